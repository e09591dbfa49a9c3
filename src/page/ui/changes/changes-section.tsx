/** The log of the person's changes, by day. Each can be undone. */
import { useEffect, useRef, useState } from 'react';
import { AGENT_COLORS } from '../../../shared/domain/choices.ts';
import { shownText } from '../../../shared/domain/names.ts';
import { isSeatPosition, seatNumber } from '../../../shared/domain/seat.ts';
import { settingAt } from '../../../shared/domain/setting-table.ts';
import { displayName } from '../../../shared/domain/agent.ts';
import { changedBy } from '../../../shared/protocol/documents/kinds.ts';
import type { ChangeLogView } from '../../../shared/protocol/worker.ts';
import { retold, t } from '../../language/t.ts';
import {
  CHANGE_LOG,
  type FieldChange,
  type Logged,
  loggedOf,
  type PersonsChange,
  readChangeLog,
  withdrawChange,
  type WayBack,
} from '../../state/change-log.ts';
import { errorText } from '../../state/ports.ts';
import { modelName } from '../models/names.ts';
import {
  labelOf,
  limitValue,
  numberText,
  OFF_PART,
  priceValue,
  RELAY_PART,
  scheduleName,
  scheduleParts,
} from '../text/record-changes.ts';
import { names } from '../text/sizes.ts';
import { useDevices, useHousehold, useRoost } from '../context.tsx';
import { Diff } from '../parts/diff.tsx';
import { SureDialog } from '../design/dialog.tsx';
import { byDay } from '../text/by-day.ts';
import { clockTime, fullTime } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import './changes.css';
import { useAction } from '../design/use-action.ts';

// Describes the person's changes in words. Pure.

type Of<Kind extends PersonsChange['kind']> = Extract<PersonsChange, { readonly kind: Kind }>;
type NameOf = (agentId: string) => string;

export interface ChangeWords {
  /** One sentence. */
  readonly text: string;
  /** The details line by line, if one sentence is not enough. */
  readonly lines?: readonly string[];
  /** Long texts, to be compared. */
  readonly long?: { readonly before: string; readonly after: string };
}

const fromTo = (label: string, before: string, after: string) => t`${label}: from ${before} to ${after}`;
const quoted = (text: unknown) => t`“${shownText(String(text))}”`;
/** Longest inline value, in characters. */
const SHORT = 60;
const isLong = (text: string | undefined) => text !== undefined && (text.length > SHORT || text.includes('\n'));

function ofSetting({ key, before, after }: Of<'setting'>): ChangeWords {
  const setting = settingAt([key]);
  if (!setting) return { text: t`You changed a setting.` };
  const label = quoted(retold(setting.label));
  if (key === 'wakeTemplate') {
    const isOwn = before !== '' && after !== '';
    return {
      text: t`You changed ${label}.`,
      ...(isOwn ? { long: { before: String(before), after: String(after) } } : {}),
    };
  }
  const shown = (value: unknown) => {
    if (setting.kind === 'number') return numberText(setting, Number(value));
    if (value === undefined || value === '') return t`the default`;
    return key.endsWith('Model') ? modelName(String(value)) : quoted(value);
  };
  return { text: t`You changed ${label} from ${shown(before)} to ${shown(after)}.` };
}

function ofChoice({ agentId, key, before, after }: Of<'choice'>, nameOf: NameOf): ChangeWords {
  const what = (label: string) => quoted(`${label} (${nameOf(agentId)})`);
  const color = (value: string) => AGENT_COLORS.find((each) => each.color === value)?.colorName ?? t`the default`;
  const model = (value: string) => (value === '' ? t`the default` : modelName(value));
  switch (key) {
    case 'color':
      return { text: t`You changed ${what(t`Colour`)} from ${color(before)} to ${color(after)}.` };
    case 'face':
      return { text: t`You changed ${what(t`Face`)}.` };
    case 'model':
      return { text: t`You changed ${what(t`Model`)} from ${model(before)} to ${model(after)}.` };
    default:
      return key satisfies never;
  }
}

function ofGroup({ before, after }: Of<'group'>, nameOf: NameOf): ChangeWords {
  const what = (group: typeof after) => t`the group ${quoted(group.name)}`;
  if (after.agentIds.length === 0) return { text: t`You removed ${what(after)}.` };
  if (before === null || before.agentIds.length === 0) return { text: t`You made ${what(after)}.` };
  if (before.name !== after.name) return { text: t`You renamed ${what(before)} to ${quoted(after.name)}.` };
  const [old, now] = [before, after].map((group) => names(group.agentIds.map(nameOf)));
  return { text: t`You changed ${what(after)} from ${old ?? ''} to ${now ?? ''}.` };
}

const limitOf = (value: unknown, path: readonly string[]) =>
  value === undefined ? t`the default` : limitValue(path, value);

function ofLimit(change: FieldChange, whose: string | null): string {
  const { path, before, after } = change;
  if (path.length === 1 && path[0] === 'wakes_enabled')
    return after === false ? t`You stopped all wakes.` : t`You allowed wakes again.`;
  const what = `${labelOf(path, whose !== null)}${whose === null ? '' : ` (${whose})`}`;
  return t`You changed ${quoted(what)} from ${limitOf(before, path)} to ${limitOf(after, path)}.`;
}

const priceOf = ({ field }: FieldChange) => (field === '*' ? t`all other models` : quoted(field));

function ofFields({ kind, agentId, fields }: Of<'limits' | 'prices'>, nameOf: NameOf): ChangeWords {
  const whose = agentId === null ? null : nameOf(agentId);
  const [only] = fields;
  if (kind === 'prices') {
    return {
      text: t`You changed ${quoted(t`Prices`)}.`,
      lines: fields.map((field) => fromTo(priceOf(field), priceValue(field.before), priceValue(field.after))),
    };
  }
  if (fields.length === 1 && only) return { text: ofLimit(only, whose) };
  return {
    text: t`You changed ${quoted(whose === null ? t`Limits` : `${t`Limits`} (${whose})`)}.`,
    lines: fields.map(({ path, before, after }) =>
      fromTo(labelOf(path, agentId !== null), limitOf(before, path), limitOf(after, path)),
    ),
  };
}

function ofSchedule({ agentId, before, after }: Of<'schedule'>, nameOf: NameOf): ChangeWords {
  const agent = nameOf(agentId);
  const what = (record: typeof after) => scheduleName(record.schedule, agent);
  if (after.removed) return { text: t`You removed ${what(after)}.` };
  if (before === null || before.removed) return { text: t`You made ${what(after)}.` };
  const parts = scheduleParts(before, after, agent).filter(({ part }) => part !== RELAY_PART);
  const [only] = parts;
  if (parts.length === 1 && only?.part === OFF_PART)
    return { text: only.after === t`No` ? t`You switched on ${what(after)}.` : t`You switched off ${what(after)}.` };
  const text = t`You changed ${what(before)}.`;
  const long = parts.filter((part) => isLong(part.before) || isLong(part.after));
  const lines = parts
    .filter((part) => !long.includes(part))
    .map((part) => fromTo(part.part, part.before ?? t`none`, part.after ?? t`none`));
  const whole = (side: 'before' | 'after') => long.map((part) => part[side] ?? '').join('\n\n');
  return { text, lines, ...(long.length > 0 ? { long: { before: whole('before'), after: whole('after') } } : {}) };
}

function ofMcpServer({ before, after }: Of<'mcp-server'>, nameOf: NameOf): ChangeWords {
  const server = t`the server ${quoted(after.name)}`;
  if (after.removed) return { text: t`You removed ${server}.` };
  if (before === null || before.removed) return { text: t`You connected ${server}.` };
  const who = (agents: readonly string[] | null) =>
    agents === null ? t`Everybody` : names(agents.map(nameOf)) || t`nobody`;
  const lines = [
    ...(who(before.agents) === who(after.agents)
      ? []
      : [fromTo(t`Who may use it`, who(before.agents), who(after.agents))]),
    ...Object.entries(after.tools).flatMap(([tool, { use }]) => {
      const was = Object.hasOwn(before.tools, tool) && before.tools[tool]?.use === true;
      return was === use ? [] : [use ? t`${shownText(tool)}: may be used` : t`${shownText(tool)}: may not be used`];
    }),
  ];
  return { text: t`You changed ${server}.`, lines };
}

const seatText = (position: number | null) => (isSeatPosition(position) ? t`seat ${seatNumber(position)}` : t`no seat`);

function changeWords({ change }: Pick<Logged, 'change'>, nameOf: NameOf): ChangeWords {
  switch (change.kind) {
    case 'setting':
      return ofSetting(change);
    case 'choice':
      return ofChoice(change, nameOf);
    case 'rename':
      return { text: t`You renamed ${quoted(change.before)} to ${quoted(change.after)}.` };
    case 'seat':
      return {
        text: t`You moved ${nameOf(change.agentId)} from ${seatText(change.before)} to ${seatText(change.after)}.`,
      };
    case 'retire':
      return { text: t`You retired ${nameOf(change.agentId)}.` };
    case 'return':
      return { text: t`You brought ${nameOf(change.agentId)} back.` };
    case 'group':
      return ofGroup(change, nameOf);
    case 'limits':
    case 'prices':
      return ofFields(change, nameOf);
    case 'schedule':
      return ofSchedule(change, nameOf);
    case 'mcp-server':
      return ofMcpServer(change, nameOf);
    default:
      return change satisfies never;
  }
}

/** Why a change cannot or need not be undone; null: it can. */
export const whyNot: Readonly<Record<WayBack, string | null>> = {
  can: null,
  since: null,
  done: t`There is nothing to undo: the earlier value is back.`,
  first: t`There was nothing before it.`,
  'seat-taken': t`Somebody else has the seat now.`,
  there: t`Another one has its name now.`,
  secrets: t`Its secrets were not stored. Connect it again.`,
};

/** The question before it is undone; null: none. */
function askedFirst({ change, back }: Pick<Logged, 'change' | 'back'>): string | null {
  if (back === 'since') return t`It was changed again since. The later change is lost too.`;
  if (change.kind === 'mcp-server' && (change.before === null || change.before.removed))
    return t`The secrets of the server are deleted for good.`;
  return null;
}

interface Read {
  readonly view: ChangeLogView | null;
  /** Why it could not be read. */
  readonly failed: string | null;
  readonly again: () => void;
}

/** The newest changes, reloaded when something is changed here or elsewhere. */
function useChangeLog(limit: number): Read {
  const roost = useRoost();
  const [read, setRead] = useState<Omit<Read, 'again'>>({ view: null, failed: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let hasLeft = false;
    let lastRequest = 0;
    const ask = async () => {
      const mine = ++lastRequest;
      try {
        const view = await readChangeLog(roost, limit);
        if (!hasLeft && mine === lastRequest) setRead({ view, failed: null });
      } catch (error) {
        if (!hasLeft) setRead(({ view }) => ({ view, failed: errorText(error) }));
      }
    };
    void ask();
    const stop = roost.dataWorker.subscribe((news) => {
      const concerns =
        news.news === 'returned' ||
        news.news === 'forgotten' ||
        (news.news === 'documents' &&
          news.docs.some((doc) => changedBy(doc) !== null || doc.type.startsWith('forget')));
      if (concerns) void ask();
    });
    return () => {
      hasLeft = true;
      stop();
    };
  }, [roost, limit, turn]);
  return { ...read, again: () => setTurn((before) => before + 1) };
}

/** The name of the device of a change; null: there is one device, or it is unknown. */
function useDeviceName(): (device: string | null) => string | null {
  const status = useDevices((state) => state.status);
  return (device) => {
    if (device === null || status?.kind !== 'shared') return null;
    const found = status.devices.find(({ deviceId }) => deviceId === device);
    return found ? (found.self ? t`on this device` : t`on ${found.name}`) : t`on a device that was removed`;
  };
}

/** Details with at least this many lines are collapsed. */
const FOLDED = 4;

function Lines({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul>
      {lines.map((each) => (
        <li key={each} dir="auto">
          {each}
        </li>
      ))}
    </ul>
  );
}

interface LineProps {
  readonly logged: Logged;
  readonly nameOf: (agentId: string) => string;
  readonly device: string | null;
}

function Line({ logged, nameOf, device }: LineProps) {
  const roost = useRoost();
  const { busy, act } = useAction();
  const [asking, setAsking] = useState(false);
  const line = useRef<HTMLLIElement>(null);
  const { text, lines = [], long } = changeWords(logged, nameOf);
  const why = whyNot[logged.back];
  const question = askedFirst(logged);
  const run = async (): Promise<string | null> => {
    const done = await withdrawChange(roost, logged);
    if (!done.ok) return done.reason;
    roost.notices.info(t`Undone.`);
    // The button disappears with its action.
    line.current?.focus();
    return null;
  };
  const undo = () =>
    act(async () => {
      const failed = await run();
      if (failed !== null) roost.notices.error(t`Could not do this. ${failed}`);
    });
  return (
    <li ref={line} className="change-line gap-4 at-top ruled stack text-4 pad-4-0" tabIndex={-1}>
      <time className="ink-3 text-2" dateTime={new Date(logged.time).toISOString()} title={fullTime(logged.time)}>
        {clockTime(logged.time)}
      </time>
      <div className="change-what stack gap-2 narrow break">
        <p dir="auto">{text}</p>
        {lines.length > FOLDED || long ? (
          <details>
            <summary>{t`What has changed`}</summary>
            <Lines lines={lines} />
            {long && <Diff {...long} />}
          </details>
        ) : (
          <Lines lines={lines} />
        )}
        {(device !== null || why !== null || logged.back === 'since') && (
          <small className="text-2">
            {[device, why, logged.back === 'since' ? t`Changed again since.` : null]
              .filter((each) => each !== null)
              .join(' · ')}
          </small>
        )}
      </div>
      {why === null && (
        <button
          type="button"
          className="ghost"
          disabled={busy}
          aria-label={t`${t`Undo`}: ${text}`}
          onClick={() => (question === null ? undo() : setAsking(true))}
        >
          {t`Undo`}
        </button>
      )}
      {asking && question !== null && (
        <SureDialog title={t`Undo`} does={t`Undo`} onSure={run} onClose={() => setAsking(false)}>
          <p dir="auto">{text}</p>
          <p>{question}</p>
        </SureDialog>
      )}
    </li>
  );
}

export default function ChangesSection() {
  const [limit, setLimit] = useState<number>(CHANGE_LOG.page);
  const { view, failed, again } = useChangeLog(limit);
  const household = useHousehold((state) => state);
  const deviceName = useDeviceName();
  const now = useNow();
  const { roster } = household;
  const nameOf = (agentId: string) => {
    const agent = roster.byId.get(agentId);
    return agent ? displayName(agent, roster) : t`somebody who is gone`;
  };
  const logged = (view?.changes ?? []).flatMap((row) => loggedOf(row, household) ?? []);
  const more = view?.more === true && limit < CHANGE_LOG.most;
  return (
    <>
      {failed !== null && (
        <div className="wrong-note" role="alert">
          <p>
            <strong>{t`Could not load this.`}</strong> {failed}
          </p>
          <button type="button" className="ghost" onClick={again}>
            {t`Try again`}
          </button>
        </div>
      )}
      {view === null && failed === null && (
        <p className="query-loading ink-3 text-3" role="status">
          {t`Loading…`}
        </p>
      )}
      {view !== null && logged.length === 0 && !more && (
        <p className="setting-hint">{t`What you change in settings appears here, and can be undone.`}</p>
      )}
      {byDay(logged, now, ({ time }) => time).map(({ day, items }) => (
        <section key={day} aria-label={day}>
          <h3>{day}</h3>
          <ol className="">
            {items.map((each) => (
              <Line key={each.id} logged={each} nameOf={nameOf} device={deviceName(each.device)} />
            ))}
          </ol>
        </section>
      ))}
      {more && (
        <button type="button" className="ghost above-6" onClick={() => setLimit(Math.min(limit * 2, CHANGE_LOG.most))}>
          {t`Show more`}
        </button>
      )}
      {view?.more === true && !more && <p className="setting-hint">{t`An export has older changes.`}</p>}
    </>
  );
}
