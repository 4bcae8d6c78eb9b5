import com.zaxxer.hikari.*;
import java.sql.*;
import java.util.concurrent.atomic.LongAdder;

public class Borrow {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:shop");
        config.setMaximumPoolSize(4);
        HikariDataSource pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection()) {
            connection.createStatement().execute("create table t as select x id, x * 3 value from system_range(1, 1000)");
        }
        LongAdder done = new LongAdder();
        for (int t = 0; t < 32; t++) {
            Thread thread = new Thread(() -> {
                try {
                    while (true) {
                        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
                            statement.executeQuery("select sum(value) from t where id < 200").next();
                        }
                        done.increment();
                    }
                } catch (SQLException e) {
                    throw new RuntimeException(e);
                }
            }, "worker-" + t);
            thread.setDaemon(true);
            thread.start();
        }
        for (int half = 0; half < seconds * 2; half++) {
            Thread.sleep(500);
            System.out.println("done " + done.sum());
        }
        System.exit(0);
    }
}
