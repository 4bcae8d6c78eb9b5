const express = require("express");
const path = require("path");

const app = express();
app.set("views", path.join(process.env.HERE, "views"));
app.set("view engine", "ejs");

const articles = [];
for (let i = 0; i < 12; i++) {
    articles.push({ id: i, name: `article ${i}`, price: 10 + i * 3, stock: i % 4 });
}

app.get("/", (request, response) => response.render("list", { title: "All articles", articles }));
app.listen(Number(process.env.PORT), "127.0.0.1");
