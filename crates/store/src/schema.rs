//! The tables of the SQLite file, and the version of the format.

/// `PRAGMA application_id` of a recording: "TWIN".
pub const APPLICATION_ID: i64 = 0x5457_494e;

/// `PRAGMA user_version`: the version of the format that this program writes.
pub const FORMAT: i64 = 2;

/// What a new file begins with.
pub(crate) const CREATE: &str = "
create table manifest (key text primary key, value text not null) without rowid;
create table coverage (source text not null, item text not null, status text not null, why text not null, remedy text,
                       primary key (source, item)) without rowid;
create table fact (category text not null, name text not null, value text not null, primary key (category, name)) without rowid;
create table mark (t integer not null, text text not null);
create table source (id integer primary key, name text not null, title text not null, interval integer not null, charts blob not null);
create table table_definition (id integer primary key, name text not null, source text not null, definition blob not null);
create table pack (id integer primary key, generation integer, bytes blob not null);
create table segment (id integer primary key, table_id integer not null, generation integer not null, t_from integer not null,
                      t_to integer not null, row_count integer not null, ticks blob not null, bytes blob not null);
create table sealed (segments integer not null, sum integer not null, tick integer not null);
insert into sealed values (0, 0, 0);
create table symbol (id integer primary key, text text not null);
create table tail (tick integer primary key, t integer not null, bytes blob not null);
";

/// What the first version of the format had instead.
const FIRST: &str = "
create table source (id integer primary key, name text not null unique, title text not null, interval integer not null, charts blob not null);
create table table_definition (id integer primary key, name text not null unique, source text not null, definition blob not null);
create index segment_of_table on segment (table_id, generation);
";

/// All statements that the schema of a recording can be made of.
pub(crate) fn statements() -> impl Iterator<Item = &'static str> {
    let of = |text: &'static str| text.split(';').map(str::trim).filter(|statement| statement.starts_with("create "));
    of(CREATE).chain(of(FIRST))
}
