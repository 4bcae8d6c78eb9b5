import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.apache.activemq.ActiveMQConnectionFactory;

/** Sends orders in lots and receives each lot: PORT PREFETCH ORDERS. */
public class Orders {
    static final int LOT = 2000;

    public static void main(String[] arguments) throws Exception {
        ActiveMQConnectionFactory factory =
                new ActiveMQConnectionFactory("tcp://127.0.0.1:" + arguments[0] + "?jms.prefetchPolicy.all=" + arguments[1]);
        Connection connection = factory.createConnection();
        connection.start();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = session.createQueue("orders");
        MessageProducer producer = session.createProducer(queue);
        producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
        MessageConsumer consumer = session.createConsumer(queue);
        long length = 0;
        for (int done = 0; done < Integer.parseInt(arguments[2]); ) {
            for (int order = 0; order < LOT; order++) {
                producer.send(session.createTextMessage("order " + (done + order)));
            }
            for (int order = 0; order < LOT; order++) {
                length += ((TextMessage) consumer.receive()).getText().length();
            }
            done += LOT;
            System.out.println("done " + done);
        }
        System.out.println("characters " + length);
        connection.close();
    }
}
