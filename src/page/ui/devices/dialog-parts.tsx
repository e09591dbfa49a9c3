/**
 * Shared parts of the device dialogs: text and name fields, the recovery phrase, the words to
 * compare.
 */
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { guessDeviceName } from '../../../shared/domain/device-name.ts';
import { t } from '../../language/t.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { plural } from '../text/sizes.ts';
import { Field, TextField, WrongNote } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';

interface Props {
  readonly label: string;
  /** How such a text begins. */
  readonly placeholder: string;
  readonly button: string;
  /** The error of the text, or null if it is accepted. */
  readonly onText: (text: string) => Promise<string | null> | string | null;
}

/** A field for a text from another device. The input stays until it is accepted. */
export function PasteText({ label, placeholder, button, onText }: Props) {
  const [text, setText] = useState('');
  const { failed, fail } = useAction();
  const take = async (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') fail(await onText(text));
  };
  return (
    <form className="narrow full" onSubmit={(event) => void take(event)}>
      <Field label={label} wrong={failed}>
        {(given) => (
          <div className="device-line gap-4 flex wrap at-bottom full">
            <textarea
              {...given}
              className="field device-text narrow break"
              rows={2}
              spellCheck={false}
              autoComplete="off"
              autoCapitalize="off"
              placeholder={placeholder}
              value={text}
              onChange={({ target }) => {
                setText(target.value);
                fail(null);
              }}
            />
            <button type="submit" className="ghost ghost-dawn" disabled={text.trim() === ''}>
              {button}
            </button>
          </div>
        )}
      </Field>
    </form>
  );
}

/** Longest name of a device, in characters. The data worker refuses longer ones. */
const NAME_MAX = 60;

/** The person's name for this device. */
export function NameField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const missing = value.trim() === '';
  return (
    <TextField
      label={t`Name of this device`}
      wrong={missing ? t`It needs a name.` : null}
      prose
      maxLength={NAME_MAX}
      value={value}
      onText={onChange}
    />
  );
}

// Handling of the recovery phrase.

/** Words that are asked for in the drill. */
const DRILL_WORDS = 3;

/** Different places (1 to `of`) to ask for, in ascending order. `random`: from 0 up to 1. */
export function drillPositions(of: number, random: () => number): readonly number[] {
  const left = Array.from({ length: of }, (_, i) => i + 1);
  const drawn = Array.from({ length: Math.min(DRILL_WORDS, of) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
  return drawn.sort((a, b) => a - b);
}

/** Compares a word as people type it. */
export const sameWord = (typed: string, word: string | undefined): boolean => typed.trim().toLowerCase() === word;

/** Number of words in a text. Numbers before words, as in a list, do not count. */
export const countWords = (text: string): number =>
  text.split(/[\s,;|]+/u).filter((piece) => /\p{L}/u.test(piece)).length;

/** Words of a phrase. */
const WORDS = 24;

interface PhraseFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Why it is not the phrase, naming the wrong word; null: no error known. */
  readonly wrong: string | null;
}

/** A field for a phrase, in any case, with numbers, commas and line breaks. */
export function PhraseField({ value, onChange, wrong }: PhraseFieldProps) {
  const count = countWords(value);
  return (
    <TextField
      label={t`The ${WORDS} words`}
      hint={
        <>
          {t`In order. Four letters of each word are enough.`}{' '}
          <span className={`nowrap figures ${count === WORDS ? 'good' : 'ink-3'}`}>{t`${count} of ${WORDS}`}</span>
        </>
      }
      wrong={wrong}
      rows={5}
      value={value}
      onText={onChange}
    />
  );
}

/**
 * The heading of a step. It takes the focus when it appears, since the previous element is gone.
 */
export function StepHead({ children }: { children: ReactNode }) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  return (
    <h3 ref={head} tabIndex={-1}>
      {children}
    </h3>
  );
}

interface SixWordsProps {
  readonly words: readonly string[];
  readonly onAnswer: (same: boolean) => void;
}

/** Six words that both devices show, as a list for screen readers. */
export function Words({ words }: { words: readonly string[] }) {
  return (
    <ol className="six-words counted tiles-s stack gap-4" aria-label={t`The six words`}>
      {words.map((word, i) => (
        <li className="stack gap-1 round centred-column ground-0 framed-strong" key={i} translate="no">
          {word}
        </li>
      ))}
    </ol>
  );
}

/** The person compares the words on both devices. */
export function CompareWords({ words, onAnswer }: SixWordsProps) {
  return (
    <div className="compare stack gap-6 narrow">
      <StepHead>{t`Are these the same on both?`}</StepHead>
      <Words words={words} />
      <p>{t`The other device shows six words too. If one is different, say no: somebody may be in between.`}</p>
      <div className="devices-ways gap-4 cluster">
        <button type="button" className="solid" onClick={() => onAnswer(true)}>{t`Yes, all six`}</button>
        <button type="button" className="ghost" onClick={() => onAnswer(false)}>{t`No`}</button>
      </div>
    </div>
  );
}

/** An error, announced at once; `children`: what to do about it. */
export function Wrong({ title, reason, children }: { title?: string; reason: string; children?: ReactNode }) {
  return (
    <div className="wrong-note" role="alert">
      <p>
        {title !== undefined && <strong>{title} </strong>}
        {reason}
      </p>
      {children}
    </div>
  );
}

/** Explains what happens when a team already lives here: how two teams merge. */
export function TwoTeams() {
  const agents = useHousehold(({ roster }) => roster.seats.size + roster.waiting.length);
  if (agents === 0) return null;
  return (
    <div className="warn-box round cluster apart gap-4 pad-wide" role="note">
      <p>
        {t`${(
          <strong>{plural(agents, 'agent lives here already.', 'agents live here already.')}</strong>
        )} Joining makes one team of both, on all your devices. This cannot be undone. Nobody is lost; of two agents with the same seat, the younger waits for a seat under Team.`}
      </p>
    </div>
  );
}

/**
 * Enables sharing, which other devices and a phrase require, and names this device. The next step
 * appears by itself.
 */
export function ShareFirst({ onClose }: { onClose: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const [name, setName] = useState(() => guessDeviceName(navigator.userAgent));
  const { busy, failed, act } = useAction();
  const share = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') act(() => actions.share(name.trim()));
  };
  return (
    <form className="devices-block stack gap-5 narrow" onSubmit={share} noValidate>
      <p>{t`Everything is sealed with a key that only your devices have. The relay passes it on and cannot read it.`}</p>
      <NameField value={name} onChange={setName} />
      <WrongNote text={failed} />
      <div className="devices-ways gap-4 cluster">
        <button type="submit" className="solid" disabled={busy || name.trim() === ''}>
          {busy ? t`Saving…` : t`Continue`}
        </button>
        <button type="button" className="ghost" onClick={onClose}>{t`Not now`}</button>
      </div>
    </form>
  );
}
