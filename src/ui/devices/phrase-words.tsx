import { useRoost } from '../context.tsx';
import { copyText } from '../parts/copy.ts';
import { fullTime } from '../text/time.ts';

/** The words of a phrase, numbered; on paper they stand alone on their page. */
export function PhraseWords({ words }: { words: readonly string[] }) {
  const state = useRoost();
  return (
    <>
      <div className="phrase-sheet">
        <p className="phrase-head">Roost: recovery phrase, made {fullTime(state.device.now())}</p>
        <ol className="phrase-words" aria-label="The recovery phrase" translate="no">
          {words.map((word, i) => (
            <li key={i}>{word}</li>
          ))}
        </ol>
      </div>
      <div className="devices-ways">
        <button type="button" className="ghost" onClick={() => print()}>
          Print
        </button>
        <button type="button" className="ghost" onClick={() => void copyText(state, words.join(' '), 'The phrase')}>
          Copy
        </button>
        <small>
          Paper is best. What is copied can be read by other programs, and some systems send the clipboard to their
          cloud; a printer may keep what it printed.
        </small>
      </div>
    </>
  );
}
