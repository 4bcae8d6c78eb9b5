import java.sql.*;

public class Insert {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:")) {
            connection.createStatement().execute("create table t (id integer primary key, value integer)");
            connection.setAutoCommit(false);
            long begin = System.nanoTime(), said = begin, done = 0;
            try (PreparedStatement insert = connection.prepareStatement("insert or replace into t values (?, ?)")) {
                while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
                    insert.setLong(1, done % 100000);
                    insert.setLong(2, done);
                    insert.executeUpdate();
                    done++;
                    if (System.nanoTime() - said > 500_000_000L) {
                        said = System.nanoTime();
                        System.out.println("done " + done);
                    }
                }
            }
            System.out.println("done " + done);
        }
    }
}
