import { useState } from 'react';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useRoost } from '../context.tsx';
import { CopyableText } from './copy-text.tsx';
import { PasteText } from './paste-text.tsx';
import { Wrong } from './wrong.tsx';

const BEGINS = 'ROOST-LINE1.…';

/** A direct line between two devices by texts that the person carries: for when no relay introduces them. */
export function WithoutRelay() {
  const actions = deviceActionsOf(useRoost());
  const [made, setMade] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [answer, setAnswer] = useState<string | null>(null);
  const [opening, setOpening] = useState(false);
  const make = async () => {
    const offer = await actions.makeDirectOffer();
    setOpening(false);
    setAnswer(null);
    setMade(offer.ok ? offer.value : null);
    setFailed(offer.ok ? null : offer.reason);
  };
  const take = async (text: string) => {
    const taken = await actions.takeDirectText(text);
    if (!taken.ok) return taken.reason;
    setAnswer(taken.value);
    setOpening(taken.value === null);
    return null;
  };
  return (
    <details className="without-relay">
      <summary>Without a relay</summary>
      <p>
        Two of your devices in one network can exchange what they have directly, with both pages open. Usually the relay
        introduces them and there is nothing to do; where it is gone, you carry two texts between them: by mail, by
        chat, as you like. They are sealed, and good once.
      </p>
      <ol className="without-steps">
        <li>
          <h4>On the first device: make a text</h4>
          {made === null && answer !== null && <p className="setting-hint">Done: its text was pasted here.</p>}
          {made === null && answer === null && (
            <button type="button" className="ghost" onClick={() => void make()}>
              Make the text
            </button>
          )}
          {made !== null && (
            <>
              <CopyableText text={made} what="The text for the other device" />
              <button type="button" className="link-button" onClick={() => void make()}>
                Make another
              </button>
            </>
          )}
          {failed !== null && <Wrong title="The text could not be made." reason={failed} />}
        </li>
        <li>
          <h4>On the second device: paste it, and carry the answer back</h4>
          {made === null && answer === null && (
            <PasteText label="The text of the first device" placeholder={BEGINS} button="Answer it" onText={take} />
          )}
          {answer !== null && <CopyableText text={answer} what="The answer for the first device" />}
          {made !== null && answer === null && (
            <p className="setting-hint">Settings, Devices, Without a relay, on that device.</p>
          )}
        </li>
        <li>
          <h4>On the first device again: paste the answer</h4>
          {made !== null && !opening && (
            <PasteText
              label="The answer of the second device"
              placeholder={BEGINS}
              button="Open the line"
              onText={take}
            />
          )}
          {made === null && (
            <p className="setting-hint">The line opens then, and “direct line” stands beside the other device above.</p>
          )}
          {opening && (
            <p className="without-done" role="status">
              The line is open: “direct line” stands beside the other device above.
            </p>
          )}
        </li>
      </ol>
    </details>
  );
}
