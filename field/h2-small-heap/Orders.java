import java.sql.*;

public class Orders {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            Statement statement = connection.createStatement();
            statement.execute("create table orders (id int primary key, customer int, price decimal(10, 2), note varchar(80))");
            statement.execute("insert into orders select x, mod(x * 7919, 5000), mod(x, 997) / 7.0, 'order number ' || x || ' of a customer' from system_range(1, 250000)");
            PreparedStatement query = connection.prepareStatement(
                "select customer, count(*), sum(price), max(note) from orders where id between ? and ? group by customer order by 3 desc limit 20");
            long begin = System.nanoTime(), said = begin, done = 0;
            while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
                int from = (int) (done * 7919 % 240000);
                query.setInt(1, from);
                query.setInt(2, from + 5000);
                query.executeQuery().next();
                done++;
                if (System.nanoTime() - said > 500_000_000L) {
                    said = System.nanoTime();
                    System.out.println("done " + done);
                }
            }
            System.out.println("done " + done);
        }
    }
}
