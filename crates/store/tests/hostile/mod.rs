//! Recordings whose schema was made to do harm: whoever looks at them runs what stands in it.

use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Rows without end.
const ENDLESS: &str = "with recursive n(x) as (select 1 union all select x + 1 from n) select";

/// One value of a gigabyte.
const HUGE: &str = "printf('%.*c', 1000000000, 'x')";

/// What is done to a good recording, under the name of the file that it becomes.
fn changes() -> Vec<(&'static str, String)> {
    let view = |table: &str, query: String| format!("drop table {table}; create view {table} as {query};");
    let schema = |change: &str| format!("pragma writable_schema = on; {change}; pragma writable_schema = off;");
    let segments = "x as id, 0 as table_id, 0 as generation, 0 as t_from, 0 as t_to, 1 as row_count";
    vec![
        ("segment-endless", view("segment", format!("{ENDLESS} {segments}, x'' as ticks, x'' as bytes from n"))),
        ("segment-random", view("segment", format!("{ENDLESS} {segments}, randomblob(1e9) as ticks, randomblob(1e9) as bytes from n"))),
        ("segment-huge", view("segment", format!("{ENDLESS} {segments}, {HUGE} as ticks, {HUGE} as bytes from n limit 9"))),
        ("manifest-endless", view("manifest", format!("{ENDLESS} 'k' || x as key, '1' as value from n"))),
        ("manifest-huge", view("manifest", format!("select 'name' as key, '\"' || {HUGE} || '\"' as value"))),
        ("manifest-random", view("manifest", "select 'name' as key, hex(randomblob(4e8)) as value".into())),
        ("source-endless", view("source", format!("{ENDLESS} x as id, 's' as name, 't' as title, 1 as interval, x'' as charts from n"))),
        ("source-huge", view("source", format!("select 1 as id, {HUGE} as name, {HUGE} as title, 1 as interval, {HUGE} as charts"))),
        ("source-product", view("source", "select a.id as id, a.name as name, a.title as title, 1 as interval, a.charts as charts
            from table_definition t, pragma_function_list a, pragma_function_list b, pragma_function_list c, pragma_function_list d".into())),
        ("sealed-endless", view("sealed", format!("{ENDLESS} x as segments, 0 as sum, 0 as tick from n order by 1"))),
        ("tail-endless", view("tail", format!("{ENDLESS} x as tick, 0 as t, zeroblob(1e6) as bytes from n"))),
        ("symbol-endless", view("symbol", format!("{ENDLESS} x as id, 'text' as text from n"))),
        ("fact-endless", view("fact", format!("{ENDLESS} 'c' as category, 'n' as name, x as value from n order by 3 desc"))),
        ("coverage-endless", view("coverage", format!("{ENDLESS} 's' as source, x as item, 'read' as status, '' as why, '' as remedy from n"))),
        ("definition-endless", view("table_definition", format!("{ENDLESS} x as id, 'n' as name, 's' as source, x'' as definition from n"))),
        ("pack-huge", view("pack", format!("select 1 as id, 0 as generation, {HUGE} as bytes"))),
        ("generated", "drop table manifest;
            create table manifest (key text primary key, value text generated always as (printf('%.*c', 900000000, 'x')) virtual);
            insert into manifest (key) values ('name');".into()),
        ("checked", "drop table mark; create table mark (t integer not null, text text not null check (length(text) < 9));".into()),
        ("trigger", format!("create trigger grow after update on sealed begin insert into fact {ENDLESS} 'c', x, 'v' from n; end;")),
        ("virtual", "drop table symbol; create virtual table symbol using fts5(id, text);".into()),
        ("index-expression", "create index dear on fact (replace(value, 'a', 'aaaaaaaa'));".into()),
        ("partial-index", "create index some on fact (value) where value like '%a%b%c%';".into()),
        ("other-table", "create table other (a); insert into other values (1);".into()),
        ("other-columns", "drop table fact; create table fact (category, name, value, more default 7);".into()),
        ("schema-view", schema(&format!("insert into sqlite_master values ('view', 'sqlite_schema', 'sqlite_schema', 0,
            'create view sqlite_schema as {ENDLESS} x as type from n')"))),
        ("lying-type", schema(&format!("update sqlite_master set rootpage = 0,
            sql = 'create view fact as {ENDLESS} 1 as category, x as name, x as value from n' where name = 'fact'"))),
        ("many-objects", format!("{} select 1;", (0..3000).map(|n| format!("create view v{n} as select 1;")).collect::<String>())),
        ("long-text", format!("create view long as select 1 {};", "+ 1".repeat(400))
            + &schema(&format!("update sqlite_master set sql = 'create view long as select 1 /*' || {} || '*/' where name = 'long'", "hex(zeroblob(4000000))"))),
    ]
}

/// Makes one of each kind of `good` in `folder`.
pub fn kinds(good: &Path, folder: &Path) -> Vec<PathBuf> {
    let made = |(name, change): (&str, String)| {
        let path = folder.join(format!("{name}.twin"));
        std::fs::copy(good, &path).unwrap();
        let db = Connection::open(&path).unwrap();
        db.execute_batch(&format!("begin; {change} commit;")).unwrap_or_else(|why| panic!("{name}: {why}"));
        path
    };
    changes().into_iter().map(made).collect()
}
