import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { names } from '../text/sizes.ts';
import { sameWord } from './phrase.ts';
import { Wrong } from './wrong.tsx';

interface Props {
  readonly words: readonly string[];
  /** Places to be asked for, from 1. */
  readonly places: readonly number[];
  /** Answers with what went wrong, or null. */
  readonly onKeep: (answers: readonly { readonly place: number; readonly word: string }[]) => Promise<string | null>;
  readonly onLookAgain: () => void;
  readonly onAnew: () => void;
}

/** Some words, asked for from what was written down. */
export function Drill({ words, places, onKeep, onLookAgain, onAnew }: Props) {
  const id = useId();
  const first = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrongPlaces, setWrongPlaces] = useState<readonly number[]>([]);
  const [failed, setFailed] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => first.current?.focus(), []);
  const missing = places.some((place) => (typed[place] ?? '').trim() === '');
  const keep = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || missing) return;
    const wrong = places.filter((place) => !sameWord(typed[place] ?? '', words[place - 1]));
    setWrongPlaces(wrong);
    setFailed(null);
    if (wrong.length > 0) return;
    setBusy(true);
    const reason = await onKeep(places.map((place) => ({ place, word: (typed[place] ?? '').trim().toLowerCase() })));
    setBusy(false);
    setFailed(reason);
  };
  return (
    <form className="devices-block" onSubmit={(event) => void keep(event)} noValidate>
      <h3>Now from your paper</h3>
      <p>Three words, to be sure that what you wrote can be read back.</p>
      <div className="drill">
        {places.map((place, i) => {
          const wrong = wrongPlaces.includes(place);
          return (
            <div key={place} className="device-field">
              <label htmlFor={`${id}-${place}`}>Word {place}</label>
              <input
                id={`${id}-${place}`}
                ref={i === 0 ? first : undefined}
                className="field"
                autoComplete="off"
                autoCapitalize="off"
                autoCorrect="off"
                spellCheck={false}
                value={typed[place] ?? ''}
                aria-invalid={wrong}
                onChange={(event) => {
                  setTyped({ ...typed, [place]: event.target.value });
                  setWrongPlaces(wrongPlaces.filter((one) => one !== place));
                }}
              />
            </div>
          );
        })}
      </div>
      {wrongPlaces.length > 0 && (
        <p className="device-wrong" role="alert">
          {`${wrongPlaces.length === 1 ? 'Word' : 'Words'} ${names(wrongPlaces.map(String))} ${wrongPlaces.length === 1 ? 'is' : 'are'} not what was shown. Look at your paper, or at the words again and put the paper right.`}
        </p>
      )}
      {failed !== null && <Wrong title="The phrase does not count yet." reason={failed} />}
      <div className="devices-ways">
        <button type="submit" className="solid" disabled={busy || missing}>
          {busy ? 'Keeping…' : 'Check'}
        </button>
        <button type="button" className="ghost" onClick={onLookAgain}>
          Look at the words again
        </button>
        <button type="button" className="link-button" onClick={onAnew}>
          Start anew with other words
        </button>
      </div>
    </form>
  );
}
