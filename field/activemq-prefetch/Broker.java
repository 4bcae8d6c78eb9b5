import org.apache.activemq.broker.BrokerService;

public class Broker {
    public static void main(String[] arguments) throws Exception {
        BrokerService broker = new BrokerService();
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.addConnector("tcp://127.0.0.1:" + arguments[0]);
        broker.start();
        broker.waitUntilStopped();
    }
}
