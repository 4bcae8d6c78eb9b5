import java.sql.*;

public class Mixed {
    static final String[] QUERIES = {
        "select customer, count(*), sum(price) from orders where id between ? and ? group by customer order by 3 desc limit 20",
        "select upper(note), length(note), price * 2 from orders where id between ? and ? and note like '%7%' order by price limit 50",
        "select o.id, p.price from orders o join orders p on p.id = o.customer where o.id between ? and ? order by 2 limit 10",
        "select extract(month from placed), avg(price), stddev_pop(price), listagg(distinct customer) from orders where id between ? and ? group by extract(month from placed)",
        "select id, row_number() over (partition by mod(customer, 9) order by price), substring(note, 3, 9) from orders where id between ? and ?",
        "select coalesce(nullif(customer, 17), 0), cast(price as varchar), round(price), placed + interval '3' day from orders where id between ? and ?",
    };

    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            Statement statement = connection.createStatement();
            statement.execute("create table orders (id int primary key, customer int, price decimal(10, 2), note varchar(80), placed date)");
            statement.execute("insert into orders select x, mod(x * 79, 5000), mod(x, 997) / 7.0, 'order number ' || x, date '2020-01-01' + mod(x, 900) from system_range(1, 50000)");
            long begin = System.nanoTime(), said = begin, done = 0;
            while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
                int from = (int) (done * 7919 % 45000);
                // Each is parsed anew, as an application without prepared statements does.
                try (PreparedStatement query = connection.prepareStatement(QUERIES[(int) (done % QUERIES.length)] + " -- " + done % 97)) {
                    query.setInt(1, from);
                    query.setInt(2, from + 500);
                    query.executeQuery().next();
                }
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
