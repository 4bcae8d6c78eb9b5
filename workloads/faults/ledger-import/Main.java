import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;

/** Imports bookings from a bank's text export: rows pass a chain of filters, and the last one types the fields. */
public final class Main {
    interface Filter {
        Object[] apply(String row, Chain rest);
    }

    static final class Chain {
        private final List<Filter> filters;
        private final int at;

        Chain(List<Filter> filters, int at) {
            this.filters = filters;
            this.at = at;
        }

        Object[] next(String row) {
            return filters.get(at).apply(row, new Chain(filters, at + 1));
        }
    }

    static Filter rewrite(UnaryOperator<String> how) {
        return (row, rest) -> rest.next(how.apply(row));
    }

    /** A number where the text is one, else the text. */
    static Object typed(String field) {
        if (!Frame.slow && !numeric(field)) return field;
        try {
            return Long.valueOf(field);
        } catch (NumberFormatException e) {
            return field;
        }
    }

    static boolean numeric(String field) {
        if (field.isEmpty() || field.length() > 18) return false;
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if ((c < '0' || c > '9') && !(i == 0 && c == '-' && field.length() > 1)) return false;
        }
        return true;
    }

    static Object[] fields(String row, Chain none) {
        String[] texts = row.split(";", -1);
        Object[] fields = new Object[texts.length];
        for (int i = 0; i < texts.length; i++) fields[i] = typed(texts[i]);
        return fields;
    }

    static String export(long number) {
        return "2024-03-" + (10 + number % 20) + ";" + number + ";DE" + number * 7919 + ";" + (number * 31 % 100_000 - 50_000) + ";EUR;"
            + (number % 5 == 0 ? "" : "invoice " + number % 977) + ";" + number % 13 + ";" + (number + 17) * 3;
    }

    static long journal(Object[] fields, CRC32C sum) {
        StringBuilder line = new StringBuilder();
        long total = 0;
        for (Object field : fields) {
            if (field instanceof Long amount) total += amount;
            line.append(field).append('\t');
        }
        byte[] bytes = line.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        for (int i = 0; i < 60; i++) sum.update(bytes, 0, bytes.length);
        return total;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        List<Filter> filters = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            filters.add(rewrite(String::strip));
            filters.add(rewrite(row -> row.startsWith("\ufeff") ? row.substring(1) : row));
        }
        filters.add(Main::fields);
        long[] next = {0, 500_000};
        CRC32C[] sums = {new CRC32C(), new CRC32C()};
        Frame.run("import", 2, index -> {
            for (int i = 0; i < 50; i++) journal(new Chain(filters, 0).next(export(next[index]++)), sums[index]);
        });
        Frame.lostShare(1);
    }
}
