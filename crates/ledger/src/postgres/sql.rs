//! The SQL statements. Each is independent of its session, because a proxy may run each of them in another session.

use crate::intent::Seq;
use crate::store::Start;

/// The statements for the table of one schema.
#[derive(Clone, Debug)]
pub struct Sql {
    schema: String,
    /// The table's name in SQL.
    table: String,
    /// The table with one row per target: its newest record, so that its removal is detected.
    newest: String,
}

impl Sql {
    pub fn new(schema: &str) -> Self {
        let schema = name(schema);
        Self { table: format!("{schema}.ledger"), newest: format!("{schema}.ledger_newest"), schema }
    }

    /// Selects records of target `$1`, with `$2` as a number, in one snapshot. There is always a row: it shows whether
    /// this is a standby, whose records may be out of date, which record is the newest, and which one was created last.
    /// A table of an early version does not have the last.
    pub fn read(&self, start: Start, is_noted: bool) -> String {
        let Self { table, newest, .. } = self;
        let noted = match is_noted {
            true => format!("(select seq from {newest} where target = $1)"),
            false => "null::bigint".to_owned(),
        };
        let from = match start {
            Start::At(_) => "r.seq >= $2".to_owned(),
            Start::Newest => format!("$2 = 0 and r.seq = (select max(seq) from {table} where target = $1)"),
            Start::Checkpoint => format!(
                "$2 = 0 and r.seq >= coalesce((select max(seq) from {table} where target = $1 and checkpoint), 1)"
            ),
        };
        format!(
            "select pg_is_in_recovery(), r.seq, r.record, r.checkpoint, (select max(seq) from {table} where target = $1), \
             {noted} from (select) as once left join {table} r on r.target = $1 and \
             {from} order by r.seq"
        )
    }

    /// Selects record `$2` of target `$1`, and the checksum of the one before it.
    pub fn look(&self) -> String {
        let table = &self.table;
        format!(
            "select pg_is_in_recovery(), (select record from {table} where target = $1 and seq = $2), (select checksum \
             from {table} where target = $1 and seq = $2 - 1)"
        )
    }

    /// Creates record `$2` of target `$1` after the one whose checksum is `$6`, and notes that it is the newest: both
    /// or none. It is durable once it is committed, even if the server is configured to answer before that.
    pub fn insert(&self) -> String {
        let Self { table, newest, .. } = self;
        format!(
            "with durable as (select case current_setting('synchronous_commit') when 'off' then \
             set_config('synchronous_commit', 'on', true) end as now), created as (insert into {table} (target, seq, \
             record, checksum, checkpoint) select $1, $2, $3, $4, $5 from durable where durable.now is distinct from 'off' and ($6::text is \
             null or exists (select from {table} where target = $1 and seq = $2 - 1 and checksum = $6)) on conflict \
             (target, seq) do nothing returning target, seq) insert into {newest} as noted (target, seq) select target, seq \
             from created on conflict (target) do update set seq = greatest(noted.seq, excluded.seq)"
        )
    }

    /// Notes the newest existing record as the newest one that ever existed.
    pub fn accept(&self) -> String {
        let Self { table, newest, .. } = self;
        format!(
            "update {newest} set seq = (select coalesce(max(seq), 0) from {table} where target = $1) where target = $1"
        )
    }

    pub(crate) fn make_schema(&self) -> String {
        format!("create schema if not exists {}", self.schema)
    }

    /// Creates the tables and the index of checkpoints, if they do not exist: all of them or none.
    pub(crate) fn make_tables(&self) -> String {
        let Self { table, newest, .. } = self;
        format!(
            "create table if not exists {table} (target text not null, seq bigint not null, record bytea not null, checksum text not \
             null, checkpoint boolean not null, primary key (target, seq)); create index if not exists \
             ledger_checkpoints on {table} (target, seq) where checkpoint; create table if not exists {newest} (target text \
             primary key, seq bigint not null)"
        )
    }

    /// The statements that an administrator runs, so that a role can keep a ledger here.
    pub(crate) fn set_up(&self, role: &str) -> String {
        format!("{}; {}; {}", self.make_schema(), self.make_tables(), self.grant(role))
    }

    pub fn grant(&self, role: &str) -> String {
        let (role, Self { schema, table, newest }) = (name(role), self);
        format!(
            "grant usage on schema {schema} to {role}; grant select, insert on {table} to {role}; grant select, insert, \
             update on {newest} to {role}"
        )
    }

    /// Deletes a record and all later ones.
    pub fn cut(&self, target: &str, seq: Seq) -> String {
        let (Self { table, newest, .. }, target) = (self, target.replace('\'', "''"));
        let good = seq.saturating_sub(1);
        format!(
            "delete from {table} where target = '{target}' and seq >= {seq}; update {newest} set seq = {good} where \
             target = '{target}' and seq > {good}"
        )
    }
}

/// Quotes a name for SQL, whatever characters it contains.
fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_cannot_end_early() {
        let sql = Sql::new("a\"; drop schema b; --");
        assert_eq!(
            sql.cut("o'neill", 7),
            "delete from \"a\"\"; drop schema b; --\".ledger where target = 'o''neill' and seq >= 7; update \"a\"\"; \
             drop schema b; --\".ledger_newest set seq = 6 where target = 'o''neill' and seq > 6"
        );
        assert!(sql.grant("a\"b").ends_with("to \"a\"\"b\""));
    }
}
