/** How far apart things are in the mended twins. */
final class Layout {
    /** Elements of an array from one thread's to the next one's. */
    static final int STRIDE = 16;
    /** Numbers drawn at a time. */
    static final int BATCH = 100;
    static final boolean MENDED = true;
}
