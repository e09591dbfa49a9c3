import { useState, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { deviceActionsOf, type Invite } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Progress } from '../parts/progress.tsx';
import { CompareWords, Words } from './six-words.tsx';
import { ShareFirst } from './share-first.tsx';
import { StepHead } from './step-head.tsx';
import { TakeOffer } from './take-offer.tsx';
import { Wrong } from './wrong.tsx';
import './devices.css';

/** What is to be done on the other device, before this one can do anything. */
function OnTheOther() {
  return (
    <section className="devices-block" aria-label="On the new device">
      <h3>On the new device</h3>
      <ol className="devices-steps">
        <li>
          Let its browser in: press Enter in the terminal where Roost runs, and open the link it prints there. A link
          works once.
        </li>
        <li>
          Choose <b>I have Roost on another device</b>. If Roost was used there before: Settings, Devices,{' '}
          <b>Join from another device</b>.
        </li>
        <li>It shows a code, good for five minutes.</li>
      </ol>
    </section>
  );
}

/** Who came: the devices that were not there before. */
function Joined({ before, onClose }: { before: readonly string[]; onClose: () => void }) {
  const name = useDevices(({ status }) =>
    status?.kind === 'shared'
      ? status.devices.find(({ deviceId, self }) => !self && !before.includes(deviceId))?.name
      : undefined,
  );
  return (
    <div className="devices-done" role="status">
      <StepHead>{name === undefined ? 'The new device is one of yours now' : `${name} is one of yours now`}</StepHead>
      <p>It fetches who lives here, then the latest conversations, then the rest. You can use it meanwhile.</p>
      <button type="button" className="solid" onClick={onClose}>
        Good
      </button>
    </div>
  );
}

const NOTHING_CHANGED = 'Nothing was sent, and nothing has changed.';

/** Letting a device in, step by step. Where the team is not shared yet, the person agrees to that first. */
export default function AddDevice({ onClose }: { onClose: () => void }) {
  const state = useRoost();
  const actions = deviceActionsOf(state);
  const shared = useDevices(({ status }) => status?.kind === 'shared');
  const invite = useStore(actions.invite, ({ now }) => now);
  const [offered, setOffered] = useState<string | null>(null);
  const again = () => {
    setOffered(null);
    actions.leaveInvite();
  };
  const leave = () => {
    actions.leaveInvite();
    onClose();
  };
  const take = (offer: string) => {
    setOffered(offer);
    void actions.takeOffer(offer);
  };

  function step(now: Invite): ReactNode {
    switch (now.step) {
      case 'idle':
        return (
          <>
            <OnTheOther />
            <TakeOffer onOffer={take} />
          </>
        );
      case 'taking':
        return <Progress label="Answering the other device…" done={0} of={0} />;
      case 'comparing':
        return (
          <CompareWords
            words={now.words}
            elsewhere="If one is different, or the other device shows none, somebody may be in between: say no."
            onAnswer={(same) => void actions.answerInvite(same)}
          />
        );
      case 'sending':
        return (
          <div className="compare">
            <StepHead>Say yes on the new device too</StepHead>
            <Progress
              label="Sending the keys, sealed for the new device…"
              done={0}
              of={0}
              text="The same six words stand there."
            />
            <Words words={now.words} />
          </div>
        );
      case 'joined':
        return <Joined before={now.before} onClose={leave} />;
      case 'refused':
        return (
          <Wrong
            title="You said that the words differ."
            reason={`${NOTHING_CHANGED} Make a new offer on the other device and take that one.`}
          >
            <button type="button" className="ghost" onClick={again}>
              Take another offer
            </button>
          </Wrong>
        );
      case 'failed':
        return (
          <Wrong title="The device was not added." reason={`${now.reason} What is here has not changed.`}>
            <div className="devices-ways">
              {offered !== null && (
                <button type="button" className="ghost" onClick={() => take(offered)}>
                  Try again
                </button>
              )}
              <button type="button" className="ghost" onClick={again}>
                Take another offer
              </button>
            </div>
          </Wrong>
        );
      default:
        return now satisfies never;
    }
  }

  return (
    <Dialog title="Add a device" onClose={leave}>
      <div className="devices">{shared ? step(invite) : <ShareFirst onClose={leave} />}</div>
    </Dialog>
  );
}
