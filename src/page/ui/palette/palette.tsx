/**
 * The palette: one list of all agents, actions, pages, settings and messages, opened with one key
 * and filtered by typing.
 */
import { type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Passage, SearchAnswer, SearchHit, SearchKind, SearchQuery } from '../../../shared/protocol/search.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { t } from '../../language/t.ts';
import { errorText } from '../../state/ports.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { type Teammates, useNames, useTeammates } from '../use-somebody.ts';
import { type Around, type Command, GROUPS, keyNames } from '../commands/command.ts';
import { allSeatCommands } from '../commands/seat.ts';
import { commandsOf } from '../commands/table.ts';
import { PATHS } from '../routes.ts';
import { NAMED_SETTINGS, SECTIONS } from '../settings/named.ts';
import { asBeginning, plural } from '../text/sizes.ts';
import { since } from '../text/time.ts';
import { useHousehold, useInfo, useLive, usePending, useRoost } from '../context.tsx';
import { useWakesOn } from '../shell/header.tsx';
import { useNow } from '../hooks.ts';
import { keyOf, openModal } from '../design/keys.ts';
import { keepFound, pathOf } from './found-bar.tsx';
import { plainPassage } from './plain-passage.ts';
import { giveTyped, type Within } from './typed-ahead.ts';
import { useFound } from './use-found.ts';
import './palette.css';

export type Filters = Pick<SearchQuery, 'agentId' | 'threadId' | 'author' | 'kinds' | 'since'>;

const DAY = 24 * 60 * 60 * 1_000;
/** Periods in days, by their labels. */
const SPANS = [
  [1, t`Since yesterday`],
  [7, t`Last week`],
  [30, t`Last month`],
  [365, t`Last year`],
] as const;

/** Kinds that are filtered together, by their labels. */
const KINDS: readonly (readonly [readonly SearchKind[], string])[] = [
  [['message'], t`Conversations`],
  [['thread-message', 'thread'], t`Threads`],
  [['soul'], t`Souls`],
  [['schedule'], t`Reminders and routines`],
];

/** Not the id of an agent. */
const IN_THREAD = 'thread:';

type Choice = readonly [value: string, text: string];

interface FilterChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Choice[];
  readonly onChange: (value: string) => void;
}

function FilterChoice({ label, value, options, onChange }: FilterChoiceProps) {
  return (
    <select
      className="narrow ink-2 text-2 framed round-s no-fill at-most-full shrink-only pad-1-4"
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {options.map(([each, text]) => (
        <option className="ground-2 ink" key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}

/**
 * Restricts the results to one agent, author, kind or period. `today`: midnight, in ms since the
 * epoch.
 */
function FilterRow({
  value,
  team,
  today,
  onChange,
}: {
  value: Filters;
  team: Teammates;
  today: number;
  onChange: (value: Filters) => void;
}) {
  const people = team.all.map(({ agentId, name }) => [agentId, name] as const);
  const inThread: readonly Choice[] = value.threadId === undefined ? [] : [[IN_THREAD, t`In this thread`]];
  return (
    <div
      className="palette-filters wrap flex gap-3 fixed ruled-below pad-4-6"
      role="group"
      aria-label={t`Which messages`}
    >
      <FilterChoice
        label={t`With whom`}
        value={value.threadId === undefined ? (value.agentId ?? '') : IN_THREAD}
        options={[...inThread, ['', t`Everybody`], ...people]}
        onChange={(chosen) => onChange({ ...value, threadId: undefined, agentId: chosen || undefined })}
      />
      <FilterChoice
        label={t`Said by`}
        value={value.author ?? ''}
        options={[['', t`Everybody`], ['human', asBeginning(t`by you`)], ...people]}
        onChange={(chosen) => onChange({ ...value, author: chosen || undefined })}
      />
      <FilterChoice
        label={t`Where`}
        value={value.kinds?.[0] ?? ''}
        options={[['', t`Everywhere`], ...KINDS.map(([[first = ''], label]) => [first, label] as const)]}
        onChange={(chosen) => onChange({ ...value, kinds: KINDS.find(([[first]]) => first === chosen)?.[0] })}
      />
      <FilterChoice
        label={t`When`}
        value={String(value.since ?? '')}
        options={[['', t`Any time`], ...SPANS.map(([days, label]) => [String(today - days * DAY), label] as const)]}
        onChange={(chosen) => onChange({ ...value, since: chosen === '' ? undefined : Number(chosen) })}
      />
    </div>
  );
}

// The entries of the palette: every command, and every setting by name. Pure.

/** In the palette's order. */
const ORDER = Object.keys(GROUPS);

/** Commands that open what is already open. */
const NOT_HERE: readonly string[] = ['find', 'find said', 'back'];

export const listed = (around: Around): readonly Command[] => [
  ...[...commandsOf(around), ...allSeatCommands(around)].filter(
    ({ id, disabled = false }) => !disabled && !NOT_HERE.includes(id),
  ),
  ...NAMED_SETTINGS.map(({ section, name, words }): Command => ({
    id: `setting ${section} ${name}`,
    group: 'settings',
    label: name,
    hint: SECTIONS[section],
    whenTyped: true,
    ...(words === undefined ? {} : { words }),
    run: () => around.go(PATHS.settings(section, name)),
  })),
];

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
const plainWords = (text: string) => plain(text).split(/[^\p{L}\p{N}]+/u);

/**
 * How well it matches; 0: not at all. The beginning of the label counts most, then the beginnings
 * of its words, then its other terms.
 */
function fit({ label, hint = '', words = '' }: Command, asked: readonly string[]): number {
  const name = plain(label);
  let sum = 0;
  for (const each of asked) {
    const begins = (word: string) => word.startsWith(each);
    const points = begins(name)
      ? 8
      : plainWords(label).some(begins)
        ? 4
        : plainWords(`${hint} ${words}`).some(begins)
          ? 1
          : 0;
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

/** The matches, best first. Without input: the last used ones, then all in the table's order. */
export function found(commands: readonly Command[], typed: string, recent: readonly string[]): readonly Command[] {
  const words = plainWords(typed).filter((word) => word !== '');
  const age = ({ id }: Command) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  const sign = plain(typed.trim());
  // An emoji is no word, but can be searched for.
  if (words.length === 0 && sign !== '') return commands.filter(({ label }) => plain(label).includes(sign));
  if (words.length === 0)
    return commands
      .filter(({ id, whenTyped = false }) => !whenTyped || recent.includes(id))
      .toSorted((a, b) => age(a) - age(b));
  return commands
    .map((command) => ({ command, points: fit(command, words) }))
    .filter(({ points }) => points > 0)
    .toSorted(
      (a, b) =>
        b.points - a.points ||
        age(a.command) - age(b.command) ||
        ORDER.indexOf(a.command.group) - ORDER.indexOf(b.command.group),
    )
    .map(({ command }) => command);
}

/** The author and the place. */
export function whereOf({ kind, agentId, author, title }: SearchHit, nameOf: (id: string) => string): string {
  const name = nameOf(author);
  switch (kind) {
    case 'message':
      return agentId === null || author === agentId ? name : t`${name} to ${nameOf(agentId)}`;
    case 'thread-message':
      return title === null ? t`${name} in a thread` : t`${name} in ${title}`;
    case 'thread':
      return t`Thread`;
    case 'schedule':
      return [title, t`Planned for ${nameOf(agentId ?? '')}`].filter((each) => each !== null).join(' · ');
    case 'soul':
      return t`${name}’s soul`;
    default:
      return kind satisfies never;
  }
}

/** A passage with its matches marked. */
function Marked({ passage: { text, marks } }: { passage: Passage }) {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) parts.push(<span key={`before ${from}`}>{text.slice(at, from)}</span>);
    parts.push(<mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  parts.push(<span key="rest">{text.slice(at)}</span>);
  return <>{parts}</>;
}

/** One result: author, time, and the text around the match. */
function Hit({ hit, nameOf, now }: { hit: SearchHit; nameOf: (id: string) => string; now: number }) {
  return (
    <span className="stack gap-1 fill">
      <span className="palette-hit-head flex baseline gap-4 narrow text-2">
        <span className="truncate ink bold" dir="auto">
          {whereOf(hit, nameOf)}
        </span>
        <time className="fixed ink-3" dateTime={new Date(hit.time).toISOString()}>
          {since(hit.time, now)}
        </time>
      </span>
      <span className="palette-passage break clamp clip text-3 clamp-3" dir="auto">
        <Marked passage={plainPassage(hit.passage)} />
      </span>
    </span>
  );
}

// Full-text search while the person types. The newest query counts and cancels earlier ones.

/**
 * Characters from which on a search starts. In some scripts a single character is a word, and so is
 * an emoji.
 */
const LEAST = 2;
const WORD = /[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{Extended_Pictographic}]/u;
/** ms between repeated searches while the index is incomplete. */
const RETRY_MS = 1_500;

export interface Searched {
  /** The answer to the last answered query; null: none. */
  readonly answer: SearchAnswer | null;
  /** The current input has no answer yet. */
  readonly waits: boolean;
  /** Why the search failed; null: it did not. */
  readonly problem: string | null;
}
const NOTHING: Searched = { answer: null, waits: false, problem: null };

const isSearch = (text: string): boolean => text.trim().length >= LEAST || WORD.test(text);

function useSearch(query: SearchQuery): Searched {
  const { dataWorker, device } = useRoost();
  const [searched, setSearched] = useState(NOTHING);
  const searchKey = isSearch(query.text) ? JSON.stringify(query) : null;
  /** The current query. A superseded one has no effect. */
  const newest = useRef<object | null>(null);
  const [line] = useState(device.newId);
  const [attempt, setAttempt] = useState(0);
  const [askedBefore, setAskedBefore] = useState<string | null>(null);
  if (searchKey !== askedBefore) {
    setAskedBefore(searchKey);
    setSearched(searchKey === null ? NOTHING : { ...searched, waits: true });
  }
  useEffect(() => {
    newest.current = null;
    if (searchKey === null) return;
    const question = {};
    newest.current = question;
    const ask = async () => {
      try {
        // `searchKey` is the query serialised above.
        const answer = await dataWorker.call('search', { ...(JSON.parse(searchKey) as SearchQuery), line });
        if (newest.current === question) setSearched({ answer, waits: false, problem: null });
      } catch (error) {
        const problem = errorText(error);
        if (newest.current === question) setSearched({ answer: null, waits: false, problem });
      }
    };
    void ask();
  }, [searchKey, dataWorker, attempt, line]);
  useEffect(() => {
    // Preloads the index. Errors are reported by an actual search.
    dataWorker.call('search', { text: '', limit: 1 }).catch(() => undefined);
  }, [dataWorker]);
  useEffect(
    () => () => {
      newest.current = null;
    },
    [],
  );
  const isBuilding = searched.answer?.state.kind === 'building';
  const askAgain = useEffectEvent(() => {
    setSearched((held) => ({ ...held, waits: true }));
    setAttempt((times) => times + 1);
  });
  useEffect(() => (isBuilding ? device.after(RETRY_MS, askAgain) : undefined), [isBuilding, attempt, device]);
  return searchKey === null ? NOTHING : searched;
}

/** The last used commands, newest first, as long as the page is open. */
let recent: readonly string[] = [];
const RECENT_MOST = 5;
/** Commands shown at most; more letters find the rest. Beside messages, only the best are shown. */
const SHOWN_MOST = 60;
const BESIDE_WORDS = 16;
/** Results requested at first, and each time the person asks for more. */
const RESULTS = 20;

type Option =
  | { readonly kind: 'command'; readonly id: string; readonly command: Command }
  | { readonly kind: 'hit'; readonly id: string; readonly hit: SearchHit }
  | { readonly kind: 'more'; readonly id: 'more' };

/** Its texts, by scope. */
function wordsOf(within: Within | null, nameOf: (id: string) => string) {
  if (within === null)
    return {
      title: t`Find anything`,
      field: t`Find anything`,
      placeholder: t`Find anything`,
    };
  if ('threadId' in within) {
    const title = t`Find in this thread`;
    return { title, field: t`Find in this thread`, placeholder: t`Find in this thread` };
  }
  const name = nameOf(within.agentId);
  return {
    title: t`Find in the conversation with ${name}`,
    field: t`Find in the conversation with ${name}`,
    placeholder: t`Find in the conversation with ${name}`,
  };
}

interface NoteProps {
  readonly searched: Searched;
  readonly typed: string;
  readonly inProjects: Pick<ReturnType<typeof useFound>, 'waits' | 'problem'>;
  readonly isEmpty: boolean;
  /** Matching commands that are not shown. */
  readonly beyond: number;
  /** There are more messages than can be requested. */
  readonly onlyBest: boolean;
}

/** The note besides the results. */
function noteOf({ searched, typed, inProjects, isEmpty, beyond, onlyBest }: NoteProps): string | null {
  const { answer, waits, problem } = searched;
  if (problem !== null) return t`The search failed. ${problem}`;
  if (answer?.state.kind === 'building') {
    const { done, of } = answer.state;
    const how = of > 0 ? ` (${Math.floor((100 * done) / of)} %)` : '';
    return t`The search index is being built${how}.`;
  }
  if (answer?.state.kind === 'unavailable')
    return answer.state.why === 'no-room'
      ? t`The search needs more disk space. Your messages are safe.`
      : t`The search does not work now. Roost tries again.`;
  const left = [
    inProjects.problem !== null && t`The search failed. ${inProjects.problem}`,
    beyond > 0 && t`${beyond} more matches. Type more to find them.`,
    onlyBest && t`More than ${plural(LIMITS.searchAnswers, 'message')} match. Add a word.`,
  ].filter((each) => each !== false);
  if (left.length > 0) return left.join(' ');
  if (!isEmpty) return null;
  if (waits || inProjects.waits) return t`Loading…`;
  return t`No results for “${typed}”`;
}

function SearchNote(props: NoteProps) {
  const note = noteOf(props);
  return (
    <p className="pad-6 ink-3" role="status" hidden={note === null}>
      {note}
    </p>
  );
}

export default function Palette({
  onClose,
  around,
  within,
}: {
  onClose: () => void;
  around: Around;
  /** Restricts the search to this place until the person widens it; null: everything. */
  within: Within | null;
}) {
  // The commands depend on these.
  useHousehold((state) => state.roster);
  useLive((state) => state);
  usePending((state) => state.call);
  useInfo(writingStopped);
  useWakesOn();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const ref = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => {
    const before = document.activeElement;
    const close = ref.current ? openModal(ref.current) : undefined;
    field.current?.focus();
    giveTyped(setTyped);
    return () => {
      close?.();
      // The chosen command may have moved the focus.
      if (document.activeElement === document.body && before instanceof HTMLElement && before.isConnected)
        before.focus();
    };
  }, []);
  const [filters, setFilters] = useState<Filters>(within ?? {});
  const [limit, setLimit] = useState(RESULTS);
  const searches = isSearch(typed);
  const searched = useSearch({ text: typed.trim() === '' ? '' : typed, ...filters, limit });
  const team = useTeammates();
  const nameOf = useNames();
  const words = wordsOf(within, nameOf);
  const now = useNow();
  const isHeld = Object.values(filters).some((value) => value !== undefined);
  const inProjects = useFound(around, isHeld || !searches ? '' : typed);
  const fitting = isHeld ? [] : found([...listed(around), ...inProjects.projects], typed, recent);
  const commands = [...fitting.slice(0, searches ? BESIDE_WORDS : SHOWN_MOST), ...inProjects.commands];
  const { answer } = searched;
  const shown: readonly Option[] = [
    ...commands.map((command): Option => ({ kind: 'command', id: command.id, command })),
    ...(answer?.hits ?? []).map((hit): Option => ({ kind: 'hit', id: hit.id, hit })),
    ...(answer?.more && limit < LIMITS.searchAnswers ? [{ kind: 'more', id: 'more' } as const] : []),
  ];
  const chosen = shown[Math.min(at, shown.length - 1)];
  const idOf = ({ id }: Option) => `${list}-${id.replaceAll(/\W+/g, '-')}`;
  useEffect(() => {
    document.getElementById(chosen ? idOf(chosen) : '')?.scrollIntoView?.({ block: 'nearest' });
  });
  const run = (option: Option) => {
    if (option.kind === 'more') return setLimit((held) => Math.min(held * 3, LIMITS.searchAnswers));
    // An open dialog traps the focus.
    flushSync(onClose);
    if (option.kind === 'hit') {
      keepFound(answer?.hits ?? [], option.hit, answer?.more ?? false);
      return around.go(pathOf(option.hit));
    }
    const { id } = option.command;
    recent = [id, ...recent.filter((other) => other !== id)].slice(0, RECENT_MOST);
    option.command.run();
  };
  // Enter was pressed before the answer arrived. It chooses the best result then.
  const enters = useRef(false);
  useEffect(() => {
    if (!enters.current || searched.waits) return;
    enters.current = false;
    // The choice closes the dialog at once, which effects must not do.
    if (chosen) queueMicrotask(() => run(chosen));
  });
  const groupOf = (option: Option | undefined) =>
    option === undefined ? null : option.kind === 'command' ? GROUPS[option.command.group] : t`Said`;
  return (
    // The backdrop is the dialog itself. Its keys are those of the field in it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={ref}
      className="dialog palette"
      aria-label={words.title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className="palette-inside column-wise flex narrow grow">
        <input
          ref={field}
          className="palette-field plain-button text-5 fixed ink ruled-below"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosen ? idOf(chosen) : undefined}
          aria-label={words.field}
          placeholder={words.placeholder}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            enters.current = false;
            setAt(0);
            setLimit(RESULTS);
          }}
          onKeyDown={(event) => {
            const key = keyOf(event);
            const last = shown.length - 1;
            const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[key];
            if (next !== undefined) setAt(Math.max(0, next));
            else if (key === 'Enter' && searched.waits && chosen?.kind !== 'command') enters.current = true;
            else if (key === 'Enter' && chosen) run(chosen);
            else return;
            event.preventDefault();
          }}
        />
        {(searches || isHeld) && (
          <FilterRow
            value={filters}
            team={team}
            today={new Date(now).setHours(0, 0, 0, 0)}
            onChange={(next) => {
              setFilters(next);
              setAt(0);
            }}
          />
        )}
        <ul
          id={list}
          role="listbox"
          aria-label={t`Found`}
          aria-busy={searched.waits}
          className="palette-list shrinks fill scroll-y pad-4"
        >
          {shown.map((option, i) => {
            const isFirst = groupOf(option) !== groupOf(shown[i - 1]);
            return (
              // The field has the focus, and its keys choose.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events
              <li
                className="line gap-4 ink-2 text-4 round-s min-42 pad-2-5"
                key={option.id}
                id={idOf(option)}
                role="option"
                aria-selected={option.id === chosen?.id}
                data-kind={option.kind}
                onPointerMove={() => setAt(i)}
                onClick={() => run(option)}
              >
                {option.kind === 'command' && (
                  <>
                    <span className="palette-label truncate fixed">{option.command.label}</span>
                    {option.command.hint !== undefined && (
                      <span className="truncate narrow ink-3 text-2 shrink-only">{option.command.hint}</span>
                    )}
                  </>
                )}
                {option.kind === 'hit' && <Hit hit={option.hit} nameOf={nameOf} now={now} />}
                {option.kind === 'more' && <span className="palette-label truncate fixed">{t`Show more`}</span>}
                {isFirst && <span className="palette-group end ink-3 text-1">{groupOf(option)}</span>}
                {option.kind === 'command' &&
                  keyNames(option.command.keys ?? []).map((key) => (
                    <kbd className="round-xs code-small ink-3 framed-strong" key={key}>
                      {key}
                    </kbd>
                  ))}
              </li>
            );
          })}
        </ul>
        <SearchNote
          searched={searched}
          isEmpty={shown.length === 0}
          typed={typed.trim()}
          inProjects={inProjects}
          beyond={Math.max(0, fitting.length - commands.length)}
          onlyBest={answer?.more === true && limit >= LIMITS.searchAnswers}
        />
      </div>
    </dialog>
  );
}
