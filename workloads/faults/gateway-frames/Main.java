import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A gateway: event loops take frames from devices, a pool signs them, and the loops send the signatures back. */
public final class Main {
    static final int FRAME = 2048, ANSWER = 32, LOOPS = 2, DEVICES = 8;

    static final class Device {
        final SocketChannel channel;
        final ByteBuffer in = ByteBuffer.allocate(FRAME);
        final ConcurrentLinkedQueue<ByteBuffer> out = new ConcurrentLinkedQueue<>();

        Device(SocketChannel channel) {
            this.channel = channel;
        }
    }

    static final class EventLoop implements Runnable {
        final Selector selector;
        final ExecutorService signers;
        final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        EventLoop(ExecutorService signers) throws IOException {
            this.selector = Selector.open();
            this.signers = signers;
        }

        void execute(Runnable task) {
            tasks.add(task);
            selector.wakeup();
        }

        void register(SocketChannel channel) {
            execute(() -> {
                try {
                    channel.register(selector, SelectionKey.OP_READ, new Device(channel));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        void read(SelectionKey key, Device device) throws IOException {
            if (device.channel.read(device.in) < 0) {
                device.channel.close();
                return;
            }
            if (device.in.hasRemaining()) return;
            byte[] frame = device.in.array().clone();
            device.in.clear();
            signers.execute(() -> {
                ByteBuffer answer = ByteBuffer.wrap(sign(frame));
                execute(() -> {
                    device.out.add(answer);
                    if (key.isValid()) key.interestOpsOr(SelectionKey.OP_WRITE);
                });
            });
        }

        void flush(SelectionKey key, Device device) throws IOException {
            ByteBuffer next;
            while ((next = device.out.peek()) != null) {
                device.channel.write(next);
                if (next.hasRemaining()) return;
                device.out.remove();
            }
            if (!Frame.slow) key.interestOpsAnd(~SelectionKey.OP_WRITE);
        }

        @Override public void run() {
            try {
                while (!signers.isShutdown()) {
                    selector.select(100);
                    for (Runnable task; (task = tasks.poll()) != null; ) task.run();
                    for (SelectionKey key : selector.selectedKeys()) {
                        Device device = (Device) key.attachment();
                        if (key.isValid() && key.isReadable()) read(key, device);
                        if (key.isValid() && key.isWritable()) flush(key, device);
                    }
                    selector.selectedKeys().clear();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static byte[] sign(byte[] frame) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] sum = digest.digest(frame);
            for (int round = 0; round < 400; round++) sum = digest.digest(sum);
            return sum;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] words) throws IOException, InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        ExecutorService signers = Executors.newFixedThreadPool(2, task -> new Thread(task, "signer"));
        EventLoop[] loops = new EventLoop[LOOPS];
        for (int i = 0; i < LOOPS; i++) new Thread(loops[i] = new EventLoop(signers), "event-loop-" + i).start();
        Socket[] devices = new Socket[DEVICES];
        for (int i = 0; i < DEVICES; i++) {
            devices[i] = new Socket();
            devices[i].connect(server.getLocalAddress());
            devices[i].setTcpNoDelay(true);
            SocketChannel accepted = server.accept();
            accepted.configureBlocking(false);
            loops[i % LOOPS].register(accepted);
        }
        byte[] frame = new byte[FRAME];
        Frame.run("device", DEVICES, index -> {
            try {
                devices[index].getOutputStream().write(frame);
                new DataInputStream(devices[index].getInputStream()).readFully(new byte[ANSWER]);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        signers.shutdown();
        Frame.lostShare(1);
        System.exit(0);
    }
}
