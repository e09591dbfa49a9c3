/**
 * One keystroke and some letters: every agent, action, page and setting, and everything that was
 * said, in one list.
 */
import { useEffect, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { t } from '../../language/t.ts';
import { useHousehold, useInfo, useLive, usePending } from '../context.tsx';
import { GROUPS, keyNames, type Around, type Command } from '../commands/command.ts';
import { useWakesOn } from '../shell/wakes-switch.tsx';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { SearchHit } from '../../../shared/protocol/search.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useNames } from '../use-names.ts';
import { useNow } from '../use-now.ts';
import { openModal } from '../parts/top-dialog.ts';
import { useTeammates } from '../use-teammates.ts';
import { FilterRow, type Filters } from './filters.tsx';
import { found, listed } from './found.ts';
import { pathOf } from './hit-path.ts';
import { Hit } from './hit.tsx';
import { keepFound } from './last-found.ts';
import type { Within } from './opens.ts';
import { giveTyped } from './typed-ahead.ts';
import { isSearch, type Searched, useSearch } from './use-search.ts';
import { keyOf } from '../parts/keys.ts';
import './palette.css';

/** What was chosen last, newest first, as long as the page is open. */
let recent: readonly string[] = [];
const RECENT_MOST = 5;
/** As many are drawn; more letters find the rest. Beside what was said, only the best. */
const SHOWN_MOST = 60;
const BESIDE_WORDS = 16;
/** Results that are asked for at first, and each time somebody wants more. */
const RESULTS = 20;

type Option =
  | { readonly kind: 'command'; readonly id: string; readonly command: Command }
  | { readonly kind: 'hit'; readonly id: string; readonly hit: SearchHit }
  | { readonly kind: 'more'; readonly id: 'more' };

/** What it says of itself, by where it looks. */
function wordsOf(within: Within | null, nameOf: (id: string) => string) {
  if (within === null)
    return {
      title: t`Find anything`,
      field: t`Find an agent, an action, a page, a setting or anything that was said`,
      placeholder: t`Find anything, and anything that was said`,
    };
  if ('threadId' in within) {
    const title = t`Find in this thread`;
    return { title, field: t`Words that were said in this thread`, placeholder: t`Find what was said in this thread` };
  }
  const name = nameOf(within.agentId);
  return {
    title: t`Find in the conversation with ${name}`,
    field: t`Words that were said with ${name}`,
    placeholder: t`Find what was said with ${name}`,
  };
}

interface NoteProps {
  readonly searched: Searched;
  readonly searches: boolean;
  readonly isEmpty: boolean;
  /** Commands that fit and are not drawn. */
  readonly beyond: number;
  /** More was said than can be asked for. */
  readonly onlyBest: boolean;
}

/** What there is to say besides what was found. */
function noteOf({ searched, searches, isEmpty, beyond, onlyBest }: NoteProps): string | null {
  const { answer, waits, problem } = searched;
  if (problem !== null) return t`What was said could not be searched: ${problem}`;
  if (answer?.state.kind === 'building') {
    const { done, of } = answer.state;
    const how = of > 0 ? ` (${Math.floor((100 * done) / of)} %)` : '';
    return t`What was said before is still being made ready for search${how}. More is found as it goes on.`;
  }
  if (answer?.state.kind === 'unavailable')
    return answer.state.why === 'no-room'
      ? t`The browser has no room for searching what was said. Nothing that was said is lost; free some disk space, and it comes back by itself.`
      : t`What was said cannot be searched just now. Nothing that was said is lost; it is tried again by itself.`;
  const left = [
    beyond > 0 && t`${beyond} more agents, actions and settings fit. More letters find them.`,
    onlyBest &&
      t`These are the best ${LIMITS.searchAnswers} places where it was said. More words, or a filter, find the others.`,
  ].filter((each) => each !== false);
  if (left.length > 0) return left.join(' ');
  if (!isEmpty) return null;
  if (waits) return t`Looking…`;
  return searches ? t`Nothing here is called so, and nobody said it.` : t`Nothing here is called so.`;
}

function SearchNote(props: NoteProps) {
  const note = noteOf(props);
  return (
    <p className="palette-none" role="status" hidden={note === null}>
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
  /** Only what was said there, until the person widens it; null: everything. */
  within: Within | null;
}) {
  // What the commands look at: with any of it, the list is another.
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
      // Whatever was chosen may have put the focus elsewhere.
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
  const fitting = isHeld ? [] : found(listed(around), typed, recent);
  const commands = fitting.slice(0, searches ? BESIDE_WORDS : SHOWN_MOST);
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
    // A dialog keeps the focus for itself while it is open.
    flushSync(onClose);
    if (option.kind === 'hit') {
      keepFound(answer?.hits ?? [], option.hit, answer?.more ?? false);
      return around.go(pathOf(option.hit));
    }
    const { id } = option.command;
    recent = [id, ...recent.filter((other) => other !== id)].slice(0, RECENT_MOST);
    option.command.run();
  };
  // Whoever is quicker than the answer gets its best when it comes.
  const enters = useRef(false);
  useEffect(() => {
    if (!enters.current || searched.waits) return;
    enters.current = false;
    // What is chosen closes the dialog at once, which no effect may.
    if (chosen) queueMicrotask(() => run(chosen));
  });
  const groupOf = (option: Option | undefined) =>
    option === undefined ? null : option.kind === 'command' ? GROUPS[option.command.group] : t`Said`;
  return (
    // The backdrop is the dialog itself; its keys are those of the field in it.
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
      <div className="palette-inside">
        <input
          ref={field}
          className="palette-field"
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
        <ul id={list} role="listbox" aria-label={t`Found`} aria-busy={searched.waits} className="palette-list">
          {shown.map((option, i) => {
            const isFirst = groupOf(option) !== groupOf(shown[i - 1]);
            return (
              // The field holds the focus, and its keys choose.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events
              <li
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
                    <span className="palette-label">{option.command.label}</span>
                    {option.command.hint !== undefined && <span className="palette-hint">{option.command.hint}</span>}
                  </>
                )}
                {option.kind === 'hit' && <Hit hit={option.hit} nameOf={nameOf} now={now} />}
                {option.kind === 'more' && <span className="palette-label">{t`Show more`}</span>}
                {isFirst && <span className="palette-group">{groupOf(option)}</span>}
                {option.kind === 'command' &&
                  keyNames(option.command.keys ?? []).map((key) => <kbd key={key}>{key}</kbd>)}
              </li>
            );
          })}
        </ul>
        <SearchNote
          searched={searched}
          searches={searches}
          isEmpty={shown.length === 0}
          beyond={fitting.length - commands.length}
          onlyBest={answer?.more === true && limit >= LIMITS.searchAnswers}
        />
      </div>
    </dialog>
  );
}
