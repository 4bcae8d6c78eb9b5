/** Messages are asked by two threads whether they can be compressed, and whether they can be encrypted. */
public final class Main {
    interface Compressible {}

    interface Encryptable {}

    static class Note implements Compressible, Encryptable {}

    static class Picture implements Compressible, Encryptable {}

    static class Order implements Compressible, Encryptable {}

    static class Receipt implements Compressible, Encryptable {}

    static Object message(int kind) {
        return switch (kind & 3) {
            case 0 -> new Note();
            case 1 -> new Picture();
            case 2 -> new Order();
            default -> new Receipt();
        };
    }

    /** Both for each message, or first one for all of them and then the other: a class remembers the interface that was asked for last. */
    static int check(Object[] messages, boolean inTurn) {
        int found = 0;
        if (inTurn) {
            for (Object message : messages) {
                if (message instanceof Compressible) found++;
                if (message instanceof Encryptable) found++;
            }
        } else {
            for (Object message : messages) if (message instanceof Compressible) found++;
            for (Object message : messages) if (message instanceof Encryptable) found++;
        }
        return found;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Object[] all = new Object[1024];
        // A day of all kinds, and then one on which all write orders.
        for (int i = 0; i < all.length; i++) all[i] = message(i);
        for (int i = 0; i < 3_000; i++) check(all, Frame.slow);
        Object[] orders = new Object[1024];
        for (int i = 0; i < orders.length; i++) orders[i] = message(2);
        long[] sums = new long[2 * 16];
        Frame.run("filter", 2, index -> sums[index * 16] += check(orders, Frame.slow));
        Frame.lostShare(1);
    }
}
