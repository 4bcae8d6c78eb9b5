/**
 * False sharing in Java with plain loads and stores: small objects, allocated one after another, each for a thread. Mended,
 * their class is @Contended.
 */
final class JavaCursors {
    static long advance(Cursor cursor, long value) {
        long next = Share.work(value + cursor.step, 5);
        cursor.lines++;
        cursor.position += next;
        return next;
    }

    static long several(Cursor cursor, long value, int times) {
        for (int i = 0; i < times; i++) value = advance(cursor, value);
        return value;
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 2);
        Cursor[] cursors = new Cursor[Share.threads];
        do {
            for (int i = 0; i < cursors.length; i++) cursors[i] = new Cursor();
        } while (!Layout.MENDED && cursors.length > 1
            && Share.address(cursors[0], "step") >> 6 != Share.address(cursors[1], "position") >> 6);
        for (int i = 0; i < cursors.length; i++) {
            Share.reads(i, Share.address(cursors[i], "step"), "Cursor.step");
            Share.writes(i, Share.address(cursors[i], "lines"), "Cursor.lines");
            Share.writes(i, Share.address(cursors[i], "position"), "Cursor.position");
        }
        long[] values = new long[1024 * (cursors.length + 1)];
        Share.run(index -> () -> values[1024 * index] = several(cursors[index], values[1024 * index], Share.ROUND));
    }
}
