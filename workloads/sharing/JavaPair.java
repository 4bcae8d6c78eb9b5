/** False sharing in Java: a reader and a writer each count in a volatile field of one object. Mended, the fields are @Contended. */
final class JavaPair {
    static void read(Counts counts, int times) {
        for (int i = 0; i < times; i++) counts.read++;
    }

    static void write(Counts counts, int times) {
        for (int i = 0; i < times; i++) counts.written++;
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 2);
        Counts made = new Counts();
        // Objects begin at multiples of 8: one in eight has its fields in two lines.
        while (!Layout.MENDED && Share.address(made, "read") >> 6 != Share.address(made, "written") >> 6) made = new Counts();
        Counts counts = made;
        Share.writes(0, Share.address(counts, "read"), "Counts.read");
        Share.writes(1, Share.address(counts, "written"), "Counts.written");
        Share.run(index -> index == 0 ? () -> read(counts, Share.ROUND) : () -> write(counts, Share.ROUND));
    }
}
