import javax.persistence.Entity;
import javax.persistence.Id;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/** Imports articles, if there is none of the same code: CLEAR_AFTER ARTICLES. */
public class Import {
    @Entity(name = "Article")
    public static class Article {
        @Id
        int id;

        String code;
        String name;
        int price;
        int stock;
    }

    public static void main(String[] arguments) {
        int clear = Integer.parseInt(arguments[0]);
        SessionFactory factory = new Configuration()
                .setProperty("hibernate.connection.url", "jdbc:h2:mem:shop")
                .setProperty("hibernate.dialect", "org.hibernate.dialect.H2Dialect")
                .setProperty("hibernate.hbm2ddl.auto", "create")
                .addAnnotatedClass(Article.class)
                .buildSessionFactory();
        Session session = factory.openSession();
        session.beginTransaction();
        session.createNativeQuery("create index article_code on Article (code)").executeUpdate();
        for (int number = 1; number <= Integer.parseInt(arguments[1]); number++) {
            String code = "code " + number * 7919L % 100_003;
            long same = session.createQuery("select count(*) from Article where code = :code", Long.class).setParameter("code", code).getSingleResult();
            if (same == 0) {
                Article article = new Article();
                article.id = number;
                article.code = code;
                article.name = "article " + number;
                article.price = number % 1009;
                session.persist(article);
            }
            if (number % clear == 0) {
                session.flush();
                session.clear();
            }
            if (number % 100 == 0) {
                System.out.println("done " + number);
            }
        }
        session.getTransaction().commit();
        session.close();
        factory.close();
    }
}
