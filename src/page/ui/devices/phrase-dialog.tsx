/** The dialog that creates a recovery phrase, shows it once and drills it. */
import { useState, type ReactNode, useEffect, useId, useRef, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { WrongNote } from '../design/field.tsx';
import { copyText } from '../parts/copyable-text.tsx';
import { fullTime } from '../text/time.ts';
import { drillPositions, sameWord, ShareFirst, StepHead } from './dialog-parts.tsx';
import './devices.css';
import './phrase.css';
import { names } from '../text/sizes.ts';
import { useAction } from '../design/use-action.ts';

interface Props {
  readonly words: readonly string[];
  /** Positions of the words to ask for, from 1. */
  readonly positions: readonly number[];
  /** Returns an error for people, or null. */
  readonly onKeep: (answers: readonly { readonly position: number; readonly word: string }[]) => Promise<string | null>;
  readonly onShowAgain: () => void;
  readonly onAnew: () => void;
}

/** Asks for some words of the written phrase. */
function Drill({ words, positions, onKeep, onShowAgain, onAnew }: Props) {
  const id = useId();
  const first = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrongPositions, setWrongPositions] = useState<readonly number[]>([]);
  const { busy, failed, act, fail } = useAction();
  useEffect(() => first.current?.focus(), []);
  const missing = positions.some((position) => (typed[position] ?? '').trim() === '');
  const keep = (event: FormEvent) => {
    event.preventDefault();
    if (missing) return;
    const wrong = positions.filter((position) => !sameWord(typed[position] ?? '', words[position - 1]));
    setWrongPositions(wrong);
    if (wrong.length > 0) return fail(null);
    act(() => onKeep(positions.map((position) => ({ position, word: (typed[position] ?? '').trim().toLowerCase() }))));
  };
  return (
    <form className="devices-block stack gap-5 narrow" onSubmit={keep} noValidate>
      <h3>{t`Type these words from your paper`}</h3>
      <div className="tiles-s stack gap-5">
        {positions.map((position, i) => {
          const wrong = wrongPositions.includes(position);
          return (
            <div key={position} className="device-field gap-3 stack narrow">
              <label className="medium" htmlFor={`${id}-${position}`}>{t`Word ${position}`}</label>
              <input
                id={`${id}-${position}`}
                ref={i === 0 ? first : undefined}
                className="field"
                autoComplete="off"
                autoCapitalize="off"
                autoCorrect="off"
                spellCheck={false}
                value={typed[position] ?? ''}
                aria-invalid={wrong}
                onChange={(event) => {
                  setTyped({ ...typed, [position]: event.target.value });
                  setWrongPositions(wrongPositions.filter((one) => one !== position));
                }}
              />
            </div>
          );
        })}
      </div>
      {wrongPositions.length > 0 && (
        <p className="danger text-2" role="alert">
          {t`Different from what was shown: word ${names(wrongPositions.map(String))}.`}
        </p>
      )}
      <WrongNote text={failed} />
      <div className="devices-ways gap-4 cluster">
        <button type="submit" className="solid" disabled={busy || missing}>
          {busy ? t`Working…` : t`Check`}
        </button>
        <button type="button" className="ghost" onClick={onShowAgain}>{t`Show`}</button>
        <button type="button" className="link-button" onClick={onAnew}>{t`Make a new one`}</button>
      </div>
    </form>
  );
}

/** The words of a phrase, numbered. Printed, they are alone on their page. */
function PhraseWords({ words }: { words: readonly string[] }) {
  const state = useRoost();
  return (
    <>
      <div className="phrase-sheet">
        <p className="phrase-head">{t`Roost: recovery phrase, made ${fullTime(state.device.now())}`}</p>
        <ol className="phrase-words counted tiles-s stack gap-3" aria-label={t`Recovery phrase`} translate="no">
          {words.map((word, i) => (
            <li className="flex baseline gap-4 pad-4 round-s framed ground-0" key={i}>
              {word}
            </li>
          ))}
        </ol>
      </div>
      <div className="devices-ways gap-4 cluster">
        <button type="button" className="ghost" onClick={() => print()}>{t`Print`}</button>
        <button
          type="button"
          className="ghost"
          onClick={() => void copyText(state, words.join(' '), t`Recovery phrase`)}
        >{t`Copy`}</button>
        <small>{t`Paper is best. Other programs can read what you copy, and a printer may store what it prints.`}</small>
      </div>
    </>
  );
}

type Step =
  | { readonly kind: 'about'; readonly busy: boolean; readonly failed: string | null }
  | { readonly kind: 'shown'; readonly words: readonly string[] }
  | { readonly kind: 'drill'; readonly words: readonly string[]; readonly positions: readonly number[] }
  | { readonly kind: 'done' };

function About({ replaces, busy, onShow }: { replaces: boolean; busy: boolean; onShow: () => void }) {
  return (
    <div className="devices-block stack gap-5 narrow">
      <p>{t`24 words on paper bring back your team and all it said, even if every device is lost. Without them and without a device, nobody can: not you, not the relay’s owner.`}</p>
      <ul className="bulleted stack gap-4">
        <li>{t`They are shown once and stored nowhere. Have pen and paper ready.`}</li>
        <li>{t`Anyone with these words has your team. Keep them like a house key.`}</li>
      </ul>
      {replaces && (
        <p className="warn-box round pad-wide">
          <span>
            {t`${<strong>{t`You have a phrase already.`}</strong>} It works until you have checked the new one, and never again.`}
          </span>
        </p>
      )}
      <div className="devices-ways gap-4 cluster">
        <button type="button" className="solid" disabled={busy} onClick={onShow}>
          {busy ? t`Working…` : t`Show`}
        </button>
      </div>
    </div>
  );
}

/** The words, shown once. The focus starts at their heading. */
function Shown({ words, onWritten }: { words: readonly string[]; onWritten: () => void }) {
  return (
    <div className="devices-block stack gap-5 narrow">
      <StepHead>{t`Write these down, in this order`}</StepHead>
      <PhraseWords words={words} />
      <div className="devices-ways gap-4 cluster">
        <button type="button" className="solid" onClick={onWritten}>{t`I have written them down`}</button>
      </div>
    </div>
  );
}

/**
 * Creates a recovery phrase: its purpose, the words, and the drill. Closing it early needs a
 * confirmation, since the words are shown only once.
 */
export default function PhraseDialog({ onClose }: { onClose: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const shared = useDevices(({ status }) => status?.kind === 'shared');
  const replaces = useDevices(({ status }) => status?.kind === 'shared' && status.phrase);
  const [step, setStep] = useState<Step>({ kind: 'about', busy: false, failed: null });
  const [leaving, setLeaving] = useState(false);
  const show = async () => {
    setStep({ kind: 'about', busy: true, failed: null });
    const made = await actions.makePhrase();
    setStep(made.ok ? { kind: 'shown', words: made.value } : { kind: 'about', busy: false, failed: made.reason });
  };
  const drill = (words: readonly string[]) =>
    setStep({ kind: 'drill', words, positions: drillPositions(words.length, Math.random) });
  const halfWay = step.kind === 'shown' || step.kind === 'drill';
  const close = () => (halfWay && !leaving ? setLeaving(true) : onClose());

  function content(): ReactNode {
    if (!shared) return <ShareFirst onClose={onClose} />;
    switch (step.kind) {
      case 'about':
        return (
          <>
            <About replaces={replaces} busy={step.busy} onShow={() => void show()} />
            {step.failed !== null && <WrongNote text={step.failed} />}
          </>
        );
      case 'shown':
        return <Shown words={step.words} onWritten={() => drill(step.words)} />;
      case 'drill':
        return (
          <Drill
            words={step.words}
            positions={step.positions}
            onKeep={async (answers) => {
              const kept = await actions.keepPhrase(answers);
              if (!kept.ok) return kept.reason;
              setStep({ kind: 'done' });
              return null;
            }}
            onShowAgain={() => setStep({ kind: 'shown', words: step.words })}
            onAnew={() => void show()}
          />
        );
      case 'done':
        return (
          <div className="done-box stack at-start gap-4 pad-wide" role="status">
            <StepHead>{t`Your recovery phrase is active`}</StepHead>
            <p>{t`Keep the paper safe, and not beside this device.`}</p>
            <button type="button" className="solid" onClick={onClose}>{t`Done`}</button>
          </div>
        );
      default:
        return step satisfies never;
    }
  }

  return (
    <Dialog title={t`Recovery phrase`} onClose={close}>
      <div className="devices stack gap-7 narrow ink-2 text-3">
        {leaving && halfWay && (
          <div className="wrong-note" role="alert">
            <p>
              <span>{t`${<strong>{t`The phrase is not active yet.`}</strong>} If you leave now, these words are lost.`}</span>{' '}
              {replaces && <span>{t`Your earlier phrase stays active.`}</span>}
            </p>
            <div className="devices-ways gap-4 cluster">
              <button type="button" className="ghost" onClick={() => setLeaving(false)}>{t`Cancel`}</button>
              <button type="button" className="ghost ghost-danger" onClick={onClose}>{t`Discard`}</button>
            </div>
          </div>
        )}
        {content()}
      </div>
    </Dialog>
  );
}
