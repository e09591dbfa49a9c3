/** The composer: the text field with drafts, mentions, attachments, dictation and its buttons. */
import {
  type KeyboardEvent,
  lazy,
  type Ref,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { complete, meant, mentionedIn, type Typing, typingAt } from '../../../shared/domain/mentions.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { SendIcon, StopIcon } from '../design/more-icons.tsx';
import { AttachButton, Chips, type FilesProblem, useAttaching, useDrops } from '../attachments/attaching.tsx';
import { count, names } from '../text/sizes.ts';
import { Face } from '../grid/face.tsx';
import type { Teammate } from '../use-somebody.ts';
import { keyOf } from '../design/keys.ts';
import { useRoost } from '../context.tsx';
import { withParagraph } from '../text/answering.ts';
import { useLeaving } from '../hooks.ts';
import { recognitionOf } from '../voice/support.ts';
import { followDraft, storeDraft, readDraft } from './drafts.ts';
import './composer.css';

interface ComposerButtonsProps {
  /** Stops the running answer; null: no answer is running. */
  readonly stop: (() => void) | null;
  /** A send button is shown, and enabled by `canSend`. */
  readonly send: boolean;
  readonly canSend: boolean;
}

/** At the end of the field: the buttons that stop the running answer and send the text. */
function ComposerButtons({ stop, send, canSend }: ComposerButtonsProps) {
  return (
    <>
      {stop && (
        <button
          type="button"
          className="compose-button both-centred no-frame round stack fixed compose-stop"
          aria-label={t`Stop`}
          title={t`Stop`}
          onClick={stop}
        >
          <StopIcon />
        </button>
      )}
      {send && (
        <button
          type="submit"
          className="compose-button both-centred no-frame round stack fixed"
          aria-label={t`Send`}
          title={t`Send`}
          disabled={!canSend}
        >
          <SendIcon />
        </button>
      )}
    </>
  );
}

/** Characters left at which the count shows. */
const COUNT_FROM = 20_000;

interface ComposerNoteProps {
  readonly id: string;
  /** Characters in the field. */
  readonly length: number;
  /** The person pasted or dropped a picture where only text is accepted. */
  readonly picture: boolean;
  /** The problem with the attached files, or null. */
  readonly problem: FilesProblem | null;
  readonly unkept: boolean;
  readonly again: boolean;
  readonly hint: string | null;
}

/** The line below the field. Shows the most urgent note only. */
function noteOf({ length, picture, problem, unkept, again, hint }: Omit<ComposerNoteProps, 'id'>): string | null {
  const left = LIMITS.messageText - length;
  if (left < 0) return t`This is ${count(-left)} characters too long. Shorten it, or send it in parts.`;
  if (picture) return t`Pictures and files cannot be sent here yet. Words can.`;
  if (problem !== null) return problem.text;
  if (left < COUNT_FROM) return t`${count(left)} characters left`;
  if (unkept) return t`This draft is too long to be kept if the page is reloaded.`;
  return again ? t`Your last message. Escape removes it.` : hint;
}

function ComposerNote({ id, ...about }: ComposerNoteProps) {
  const isWrong = about.length > LIMITS.messageText || about.picture || about.problem !== null;
  const note = noteOf(about);
  const each = note !== null && note === about.problem?.text ? about.problem.each : [];
  return (
    <div
      id={id}
      className={`compose-note text-2 leading-4 ${isWrong ? 'danger' : 'ink-3'}`}
      role={isWrong ? 'alert' : undefined}
    >
      <p>{note}</p>
      {each.length > 0 && (
        <details>
          <summary>{t`Which, and why`}</summary>
          {/* Scrollable, by keyboard too. */}
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <ul className="scroll" tabIndex={0}>
            {each.map((why, i) => (
              <li key={i} dir="auto">
                {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

// Inserts text into a field as if it had been typed, so that it can be undone. Setting the field's
// value directly would clear its undo history.

interface Place {
  readonly from: number;
  readonly to: number;
  /** The field has the focus afterwards. Otherwise the focus returns to where it was. */
  readonly keepsFocus?: boolean;
}

/** Leaves the caret behind the inserted text. The field fires its `input` event. */
function putText(box: HTMLTextAreaElement, text: string, { from, to, keepsFocus = true }: Place): void {
  const before = document.activeElement;
  box.focus({ preventScroll: true });
  box.setSelectionRange(from, to);
  // `execCommand` is deprecated, but browsers have no other way. An empty text deletes the
  // selection.
  const isPut = text === '' ? document.execCommand?.('delete') : document.execCommand?.('insertText', false, text);
  if (!isPut) {
    box.setRangeText(text, from, to, 'end');
    box.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
  }
  if (!keepsFocus && before instanceof HTMLElement && before !== box) before.focus({ preventScroll: true });
}

// Autocompletes mentions while the person types.

interface Mentioning {
  /** The agents that match; empty where no mention is being typed. */
  readonly people: readonly Teammate[];
  readonly active: number;
  readonly point: (index: number) => void;
  readonly pick: (index: number) => void;
  /** Called when the text or the caret has changed. */
  readonly update: () => void;
  readonly leave: () => void;
  /** True where the list handled the key. */
  readonly onKeyDown: (event: KeyboardEvent) => boolean;
}

/** Autocompletes mentions in a field. `onPut` is called after the hook changed the field's text. */
function useMentioning(
  field: RefObject<HTMLTextAreaElement | null>,
  among: readonly Teammate[],
  onPut: () => void,
): Mentioning {
  const [typing, setTyping] = useState<Typing | null>(null);
  const [active, setActive] = useState(0);
  /** Position of the `@` whose list was dismissed. */
  const [dismissedAt, setDismissedAt] = useState<number | null>(null);
  const people = typing && typing.start !== dismissedAt ? meant(typing.query, among) : [];

  const update = useCallback(() => {
    const box = field.current;
    if (among.length === 0) return;
    const found = box && box.selectionStart === box.selectionEnd ? typingAt(box.value, box.selectionStart) : null;
    setTyping(found);
    setDismissedAt((start) => (found?.start === start ? start : null));
    setActive(0);
  }, [field, among.length]);

  const pick = (index: number) => {
    const box = field.current;
    const who = people[index];
    if (!box || !who || !typing) return;
    const caret = box.selectionStart;
    const rest = box.value.length - caret;
    const put = complete(box.value, caret, typing, who);
    putText(box, put.text.slice(typing.start, put.text.length - rest), { from: typing.start, to: caret });
    box.setSelectionRange(put.caret, put.caret);
    setTyping(null);
    setDismissedAt(typing.start);
    onPut();
  };

  const onKeyDown = (event: KeyboardEvent): boolean => {
    const key = keyOf(event);
    if (people.length === 0 || key === '') return false;
    const at = Math.min(active, people.length - 1);
    if (key === 'ArrowDown') setActive((at + 1) % people.length);
    else if (key === 'ArrowUp') setActive((at - 1 + people.length) % people.length);
    else if (key === 'Enter' && !event.shiftKey) pick(at);
    else if (key === 'Tab' && !event.shiftKey) pick(at);
    else if (key === 'Escape') setDismissedAt(typing?.start ?? null);
    else return false;
    event.preventDefault();
    return true;
  };

  return {
    people,
    active: Math.min(active, Math.max(0, people.length - 1)),
    point: setActive,
    pick,
    update,
    leave: () => setTyping(null),
    onKeyDown,
  };
}

const optionId = (id: string, index: number): string => `${id}-${index}`;

/**
 * The agents that match what is typed after an `@`. The focus stays in the field, which names the
 * active option.
 */
function Suggestions({ id, mentioning: { people, active, pick, point } }: { id: string; mentioning: Mentioning }) {
  return (
    <div
      id={id}
      className="suggestions framed-strong scroll round ground-2 absolute"
      role="listbox"
      aria-label={t`Who is meant`}
    >
      {people.map((who, i) => (
        // The field handles the keys. This handler is for the pointer.
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events
        <div
          key={who.agentId}
          id={optionId(id, i)}
          role="option"
          tabIndex={-1}
          aria-selected={i === active}
          className="line gap-4 touchable round-s pad-1-4 named tint"
          style={{ '--c': who.color }}
          onMouseDown={(event) => event.preventDefault()}
          onMouseMove={() => point(i)}
          onClick={() => pick(i)}
        >
          <Face agentId={who.agentId} face={who.face} color={who.color} awake={false} />
          <span dir="auto">{who.name}</span>
        </div>
      ))}
    </div>
  );
}

/** ms after the last key before a draft is saved. */
const KEEP_AFTER = 250;
/** Longest text, in characters, that is searched for mentions while the person types. */
const MENTION_SEARCH = 20_000;
const NOBODY: readonly Teammate[] = [];

const HEARS = recognitionOf() !== null;
const DictateButton = lazy(() =>
  import('../voice/dictate-button.tsx').then(({ DictateButton }) => ({ default: DictateButton })),
);

/** True where CSS `field-sizing` grows the field. Elsewhere a script sets its height. */
const GROWS_BY_ITSELF = typeof CSS !== 'undefined' && CSS.supports('field-sizing', 'content');

/** A handle on the field, for other parts of the page that insert text. */
export interface Field {
  /**
   * Appends text as a new paragraph, adds files to those already attached, and focuses the field.
   */
  add(text: string, files?: readonly PreparedFile[]): void;
}

interface Props {
  readonly ref?: Ref<Field>;
  /** The draft's name. The draft survives leaving and reloading the page. */
  readonly draft: string;
  readonly label: string;
  readonly placeholder?: string;
  /**
   * Says what happens to a message that is not read at once, or null. A function receives the
   * mentioned agents.
   */
  readonly hint: string | null | ((mentioned: readonly Teammate[]) => string);
  readonly disabled?: boolean;
  /** An answer is running and can be stopped. */
  readonly answering?: boolean;
  /** An edit in progress: its text, and how to cancel it. */
  readonly edit?: { readonly text: string; readonly earlier: boolean; readonly cancel: () => void } | null;
  /** The agents that an `@` offers. */
  readonly people?: readonly Teammate[];
  /** The agent whose model receives attached pictures and files. Left out: text only. */
  readonly attachesFor?: AgentId;
  /** Number of attachments that an edited message already has. */
  readonly along?: number;
  readonly onSend: (text: string, mentions: readonly string[], files: readonly PreparedFile[]) => void;
  readonly onStop?: () => void;
  /**
   * Arrow up in the empty field: returns the last message to be sent again. null: there is none, or
   * it is edited in place.
   */
  readonly onLast?: () => string | null;
}

/**
 * True where the keyboard is most likely on screen. It has no Shift+Enter, so Enter starts a new
 * line there.
 */
const hasTouchKeyboard = () => matchMedia('(hover: none) and (pointer: coarse)').matches;

function goOnIn(box: HTMLTextAreaElement): void {
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
  box.scrollTop = box.scrollHeight;
}

/** A picture or a file without text. */
const holdsOnlyFiles = ({ files, types }: DataTransfer) => files.length > 0 && !types.includes('text/plain');

interface StoredDraft {
  /** The text is too long to be stored. */
  readonly unkept: boolean;
  readonly keep: () => void;
  /** Stores the text when the person pauses. */
  readonly keepSoon: () => void;
}

/**
 * Stores the text of a field as a draft, and takes over changes from other tabs. `draft` null: the
 * text is no draft. `onTaken` is called with the length of a text that was taken over.
 */
function useStoredDraft(
  field: RefObject<HTMLTextAreaElement | null>,
  draft: string | null,
  onTaken: (length: number) => void,
): StoredDraft {
  const { browser } = useRoost().device;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [unkept, setUnkept] = useState(false);
  const keep = () => {
    if (draft !== null) setUnkept(!storeDraft(browser, draft, field.current?.value ?? ''));
  };
  useLeaving(keep);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (draft === null) return undefined;
    return followDraft(draft, (text) => {
      const box = field.current;
      // A person who is writing here is not interrupted. In other tabs the sent text must not stay,
      // or it could be sent twice.
      if (!box || box === document.activeElement) return;
      box.value = text;
      onTaken(text.length);
    });
  }, [field, draft, onTaken]);
  return {
    unkept,
    keep,
    keepSoon() {
      clearTimeout(timer.current);
      timer.current = setTimeout(keep, KEEP_AFTER);
    },
  };
}

/**
 * Where a person writes. The text lives in the field itself, so a megabyte pasted here goes through
 * no React state. Nothing is cut: a text that is too long is counted and reported.
 */
export function Composer({
  ref,
  draft,
  label,
  placeholder = label,
  hint,
  disabled = false,
  answering = false,
  edit = null,
  people = NOBODY,
  attachesFor,
  along = 0,
  onSend,
  onStop,
  onLast,
}: Props) {
  const { browser } = useRoost().device;
  const attaches = attachesFor !== undefined;
  const field = useRef<HTMLTextAreaElement>(null);
  const [length, setLength] = useState(() => (edit ? edit.text : readDraft(browser, draft)).length);
  const [picture, setPicture] = useState(false);
  const [mentioned, setMentioned] = useState<readonly string[]>([]);
  /** The text is the last message, recalled by arrow up. */
  const [again, setAgain] = useState(false);
  const id = useId();
  const [note, list] = [`${id}-note`, `${id}-list`];
  const editing = edit !== null;
  const over = length - LIMITS.messageText;
  const attaching = useAttaching(editing ? null : draft);
  const frame = useRef<HTMLFormElement>(null);
  useDrops(frame, attaches && !disabled ? attaching.add : null);
  const blank = length === 0 && attaching.files.length + along === 0;

  useEffect(() => {
    const box = field.current;
    if (box && editing) goOnIn(box);
  }, [editing]);
  const { unkept, keep, keepSoon } = useStoredDraft(field, editing ? null : draft, setLength);
  const onText = () => {
    const box = field.current;
    const text = box?.value ?? '';
    setLength(text.length);
    setMentioned(text.length <= MENTION_SEARCH ? mentionedIn(text, people) : []);
    setPicture(false);
    if (text === '') setAgain(false);
    if (box && !GROWS_BY_ITSELF) {
      box.style.height = 'auto';
      box.style.height = `${box.scrollHeight}px`;
    }
    keepSoon();
  };
  useImperativeHandle(ref, () => ({
    add(text, files = []) {
      const box = field.current;
      if (!box || disabled) return;
      attaching.putBack(files);
      const end = box.value.length;
      if (text !== '') putText(box, withParagraph(box.value, text).slice(end), { from: end, to: end });
      onText();
      keep();
      goOnIn(box);
    },
  }));
  const putBehind = (heard: string) => {
    const box = field.current;
    if (!box) return;
    const end = box.value.length;
    const spoken = /(^|\s)$/.test(box.value) ? heard : ` ${heard}`;
    // Dictation goes on, so the button that stops it keeps the focus.
    putText(box, spoken, { from: end, to: end, keepsFocus: false });
    onText();
    keep();
  };
  const mentioning = useMentioning(field, people, onText);
  const offers = mentioning.people.length > 0;
  const send = () => {
    const text = field.current?.value ?? '';
    if (disabled || attaching.preparing > 0 || text.length > LIMITS.messageText) return;
    if (text.trim() === '' && attaching.files.length + along === 0) return;
    onSend(text.trim() === '' ? '' : text, mentionedIn(text, people), attaching.files);
    attaching.clear();
    if (field.current) field.current.value = '';
    onText();
    mentioning.leave();
    if (!editing) storeDraft(browser, draft, '');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (mentioning.onKeyDown(event)) return;
    const key = keyOf(event);
    if (key === 'Escape' && edit) edit.cancel();
    if (key === 'Escape' && again && field.current) {
      // Escape removes the recalled text first. The next Escape leaves the field.
      event.stopPropagation();
      putText(field.current, '', { from: 0, to: field.current.value.length });
      onText();
    }
    if (key === 'ArrowUp' && !editing && field.current?.value === '') {
      const text = onLast?.() ?? null;
      if (text === null) return;
      event.preventDefault();
      putText(field.current, text, { from: 0, to: 0 });
      setAgain(true);
      onText();
    }
    const isAsked = event.ctrlKey || event.metaKey;
    if (key !== 'Enter' || event.shiftKey || (hasTouchKeyboard() && !isAsked)) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      ref={frame}
      className="compose full"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {edit && (
        <p className="compose-edit flex gap-5 ink-2 text-2">
          {edit.earlier
            ? t`Editing what you wrote before. What came after it stays, as an earlier version.`
            : t`Editing your last message. What came after it will be replaced.`}
          <button type="button" className="link-button" onClick={edit.cancel}>{t`Cancel`}</button>
        </p>
      )}
      {offers && <Suggestions id={list} mentioning={mentioning} />}
      {attachesFor && <Chips attaching={attaching} reader={attachesFor} />}
      <div className="compose-box pad-block-4 round-l flex gap-4 framed at-bottom" data-disabled={disabled}>
        {attaches && <AttachButton attaching={attaching} disabled={disabled} />}
        <textarea
          className="fill text-4 plain-button pad-4-0 leading-5 min-40"
          ref={field}
          name="message"
          rows={1}
          dir="auto"
          aria-label={label}
          placeholder={placeholder}
          aria-describedby={note}
          aria-invalid={over > 0}
          {...(people.length > 0 ? { 'aria-autocomplete': 'list' } : {})}
          {...(offers ? { 'aria-controls': list, 'aria-activedescendant': optionId(list, mentioning.active) } : {})}
          disabled={disabled}
          defaultValue={edit ? edit.text : readDraft(browser, draft)}
          onInput={() => {
            onText();
            mentioning.update();
          }}
          onSelect={mentioning.update}
          onPaste={(event) => {
            if (!holdsOnlyFiles(event.clipboardData)) return;
            if (!attaches) return setPicture(true);
            event.preventDefault();
            attaching.add(event.clipboardData.files);
          }}
          onDrop={(event) => {
            // Where files are accepted, the whole conversation is a drop zone.
            if (attaches || !holdsOnlyFiles(event.dataTransfer)) return;
            // Otherwise the browser would leave the page and open the file.
            event.preventDefault();
            setPicture(true);
          }}
          onBlur={() => {
            mentioning.leave();
            keep();
          }}
          onKeyDown={onKeyDown}
        />
        {HEARS && !disabled && (
          <Suspense fallback={null}>
            <DictateButton browser={browser} onHeard={putBehind} />
          </Suspense>
        )}
        <ComposerButtons
          stop={answering ? (onStop ?? null) : null}
          send={!answering || !blank}
          canSend={!disabled && !blank && over <= 0 && attaching.preparing === 0}
        />
      </div>
      <ComposerNote
        id={note}
        length={length}
        picture={picture}
        problem={attaching.problem}
        unkept={unkept || attaching.unkept}
        again={again}
        hint={typeof hint === 'function' ? hint(people.filter(({ agentId }) => mentioned.includes(agentId))) : hint}
      />
      {people.length > 0 && (
        <p className="visually-hidden" role="status">
          {offers &&
            t`${names(mentioning.people.map(({ name }) => name))}: arrows choose, Enter puts in, Escape closes`}
        </p>
      )}
    </form>
  );
}
