/**
 * The triggers of the store, in the words of each database.
 *
 * Every change of settings increments the `version` of its row, and the counter `decisions` in the
 * household's row. Decisions of the gate are checked against it. With an empty stamp nothing was
 * set: the row exists only for its counter.
 *
 * `changed_at` of a task is by one clock for all relays on this store. The renewal of a lease is no
 * change.
 */

export const POSTGRES_TRIGGERS: readonly string[] = [
  `
    create function roost.config_counted() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        new.version := old.version + 1;
      elsif new.stamp is distinct from '' then
        new.version := 1;
      end if;
      if new.scope = 'household' then
        new.decisions := new.decisions + 1;
      else
        insert into roost.configs as held (home, scope, config_json, stamp) values (new.home, 'household', '{}', '')
          on conflict (home, scope) do update set decisions = held.decisions + 1;
      end if;
      return new;
    end $$
  `,
  `
    create trigger config_counted before insert or update of config_json on roost.configs
      for each row execute function roost.config_counted()
  `,
  `
    create function roost.task_changed() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' or new.version <> old.version or new.claimed_at is distinct from old.claimed_at then
        new.changed_at := (extract(epoch from clock_timestamp()) * 1000)::bigint;
      end if;
      return new;
    end $$
  `,
  `
    create trigger task_changed before insert or update on roost.tasks
      for each row execute function roost.task_changed()
  `,
];

// SQLite runs them after the change, so `returning` does not show what they set.

const CONFIG_COUNTED = `
      update configs set decisions = decisions + 1
        where home = new.home and scope = 'household' and new.scope = 'household';
      insert into configs (home, scope, config_json, stamp, decisions)
        select new.home, 'household', '{}', '', 1 where new.scope <> 'household'
        on conflict (home, scope) do update set decisions = configs.decisions + 1;`;
const TASK_CHANGED = `
      update tasks set changed_at = cast(round(unixepoch('subsec') * 1000) as integer)
        where home = new.home and task = new.task;`;

export const SQLITE_TRIGGERS: readonly string[] = [
  `
    create trigger config_added after insert on configs begin
      update configs set version = 1 where home = new.home and scope = new.scope and new.stamp is distinct from '';
      ${CONFIG_COUNTED}
    end
  `,
  `
    create trigger config_changed after update of config_json on configs begin
      update configs set version = old.version + 1 where home = new.home and scope = new.scope;
      ${CONFIG_COUNTED}
    end
  `,
  `create trigger task_added after insert on tasks begin ${TASK_CHANGED} end`,
  `
    create trigger task_changed after update of version, claimed_at on tasks
      when new.version <> old.version or new.claimed_at is distinct from old.claimed_at
      begin ${TASK_CHANGED} end
  `,
];
