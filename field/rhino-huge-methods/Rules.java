import org.mozilla.javascript.*;

// Prices orders by rules that are one long JavaScript function, as rule editors write them.
public class Rules {
    public static void main(String[] arguments) {
        int seconds = Integer.parseInt(arguments[0]);
        StringBuilder text = new StringBuilder("function price(order) { var total = 0;\n");
        for (int i = 0; i < 200; i++) {
            text.append("if (order.kind == ").append(i % 50).append(") total = total + order.amount * ").append(i % 7 + 1).append(";\n");
        }
        text.append("return total; }");
        Context context = Context.enter();
        context.setOptimizationLevel(9);
        Scriptable scope = context.initStandardObjects();
        context.evaluateString(scope, text.toString(), "rules.js", 1, null);
        Function price = (Function) scope.get("price", scope);
        Scriptable order = context.newObject(scope);
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            order.put("kind", order, (int) (done % 50));
            order.put("amount", order, (double) (done % 100));
            price.call(context, scope, scope, new Object[] {order});
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }
}
