/** How far apart things are. */
final class Layout {
    /** Elements of an array from one thread's to the next one's. */
    static final int STRIDE = 1;
    /** Numbers drawn at a time. */
    static final int BATCH = 1;
    static final boolean MENDED = false;
}
