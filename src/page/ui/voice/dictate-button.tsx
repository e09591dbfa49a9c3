import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { spoken, t } from '../../language/t.ts';
import type { TextStorage } from '../../state/ports.ts';
import { MicIcon } from '../design/more-icons.tsx';
import { type Recognition, recognitionOf } from './support.ts';
import { keyOf } from '../design/keys.ts';
import './dictate.css';

/** Storage key: the person has read where the sound is sent, on this device. */
const KNOWN = 'roost-dictation-known';

/** The browser's event: the recognised text so far, in pieces. */
interface Heard {
  readonly resultIndex: number;
  readonly results: ArrayLike<{ readonly isFinal: boolean; readonly 0?: { readonly transcript: string } }>;
}

const WHY: Readonly<Record<string, string>> = {
  'not-allowed': t`The microphone is not allowed. Allow it in the browser’s settings.`,
  'service-not-allowed': t`This browser cannot turn speech into text.`,
  'audio-capture': t`This device has no microphone.`,
  network: t`The browser’s speech service cannot be reached.`,
  'language-not-supported': t`The browser’s speech service lacks this language.`,
};

interface Props {
  /** The browser's storage. */
  readonly browser: TextStorage;
  /** The recognised text goes into the composer for review. It is never sent by itself. */
  readonly onHeard: (text: string) => void;
}

/**
 * Dictates into the composer. Off until it is pressed, and shown only where the browser supports
 * it.
 */
export function DictateButton({ browser, onHeard }: Props): ReactNode {
  const [asking, setAsking] = useState(false);
  const [listening, setListening] = useState(false);
  const [interim, setInterim] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const heard = useRef(onHeard);
  const recognition = useRef<Recognition | null>(null);
  const id = useId();
  useEffect(() => {
    heard.current = onHeard;
  });
  useEffect(() => () => recognition.current?.abort(), []);

  const begin = () => {
    const Recognizer = recognitionOf();
    if (!Recognizer) return;
    setAsking(false);
    setProblem(null);
    const recognizer = new Recognizer();
    recognizer.lang =
      spoken.language === 'en' ? (navigator.language.startsWith('en') ? navigator.language : 'en') : spoken.locale;
    recognizer.continuous = true;
    recognizer.interimResults = true;
    recognizer.addEventListener('result', (event) => {
      const { resultIndex, results } = event as Event & Heard;
      const fresh = Array.from(results).slice(resultIndex);
      const text = (final: boolean) =>
        fresh
          .flatMap((result) => (result.isFinal === final ? (result[0]?.transcript ?? []) : []))
          .join(' ')
          .trim();
      setInterim(text(false));
      if (text(true) !== '') heard.current(text(true));
    });
    recognizer.addEventListener('error', (event) => {
      const { error } = event as Event & { readonly error: string };
      if (error !== 'no-speech' && error !== 'aborted') setProblem(WHY[error] ?? t`Dictation failed: ${error}`);
    });
    recognizer.addEventListener('end', () => {
      setListening(false);
      setInterim('');
      recognition.current = null;
    });
    recognition.current = recognizer;
    recognizer.start();
    setListening(true);
  };
  const press = () => {
    if (listening) return recognition.current?.stop();
    if (browser.read(KNOWN) === null) return setAsking(!asking);
    begin();
  };
  return (
    <span
      className="dictate relative flex fixed"
      onKeyDown={(event) => {
        if (keyOf(event) !== 'Escape' || !(listening || asking)) return;
        event.stopPropagation();
        setAsking(false);
        recognition.current?.stop();
      }}
      role="presentation"
    >
      <button
        type="button"
        className="compose-attach both-centred plain-button round stack fixed ink-2"
        aria-label={listening ? t`Stop listening` : t`Dictate`}
        title={listening ? t`Stop listening` : t`Dictate`}
        aria-pressed={listening}
        aria-describedby={id}
        onClick={press}
      >
        <MicIcon />
      </button>
      {(asking || interim !== '' || problem !== null) && (
        <span id={id} className="dictate-note block text-2 box ink-2 ground-2 absolute" role="status">
          {asking ? (
            <>
              {t`Your browser turns speech into text. Chrome sends the sound to Google, and Safari may send it to Apple. Roost does not get it.`}
              <button
                type="button"
                className="link-button"
                onClick={() => {
                  browser.write(KNOWN, 'yes');
                  begin();
                }}
              >{t`Begin`}</button>
              <button type="button" className="link-button" onClick={() => setAsking(false)}>{t`Not now`}</button>
            </>
          ) : (
            (problem ?? <span dir="auto">{interim}</span>)
          )}
        </span>
      )}
    </span>
  );
}
