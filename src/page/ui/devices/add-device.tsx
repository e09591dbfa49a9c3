import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { deviceActionsOf, type Invite } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Progress } from '../parts/progress.tsx';
import { CompareWords, Words } from './six-words.tsx';
import { ShareFirst } from './share-first.tsx';
import { StepHead } from './step-head.tsx';
import { DropZone } from '../parts/drop-zone.tsx';
import { PasteText } from './paste-text.tsx';
import { readPicture } from './pixels.ts';
import { DeviceCodeView, useDeviceCode, type CodeKeeper } from './device-code.tsx';
import { Scan } from './scan.tsx';
import { Wrong } from './wrong.tsx';
import './devices.css';

/** How an offer begins, whatever stands around it; what else it holds is the owner's affair. */
const OFFER = /roost\s*\d+\s*\./iu;

/** Pictures that are pasted anywhere while this is shown. */
function usePastedPicture(onFile: (file: File) => void) {
  const take = useRef(onFile);
  useEffect(() => {
    take.current = onFile;
  });
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith('image/'));
      if (!file) return;
      event.preventDefault();
      take.current(file);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}

/** Ways to bring an offer here from the other device: by the camera, as a picture, as text. */
function TakeOffer({ onOffer }: { onOffer: (offer: string) => void }) {
  const [unread, setUnread] = useState<string | null>(null);
  const [looking, setLooking] = useState(false);
  const takeCode = (code: string) => {
    if (OFFER.test(code)) onOffer(code);
    else setUnread(t`There is a code, but not one of Roost. It is the one that the new device shows.`);
  };
  const picture = async (file: Blob) => {
    setLooking(true);
    setUnread(null);
    const read = await readPicture(file);
    setLooking(false);
    if (read.ok) takeCode(read.text);
    else setUnread(read.reason);
  };
  usePastedPicture((file) => void picture(file));
  const takeText = (text: string) => {
    if (!OFFER.test(text))
      return t`This is not the text of a Roost code. That begins with ROOST1. and stands under the code on the new device.`;
    onOffer(text);
    return null;
  };
  return (
    <section className="devices-block" aria-label={t`Here`}>
      <h3>{t`Here`}</h3>
      <Scan onRead={takeCode} />
      <DropZone label={t`Choose a picture of the code`} accept="image/*" onFile={(file) => void picture(file)}>
        {looking ? t`Looking for the code…` : t`or drop or paste it here: a photo or a screenshot`}
      </DropZone>
      {unread !== null && <Wrong title={t`No code was found.`} reason={unread} />}
      <PasteText label={t`The text under the code`} placeholder={`ROOST1.…`} button={t`Take it`} onText={takeText} />
    </section>
  );
}

/** What is to be done on the other device, before this one can do anything. */
function OnTheOther() {
  return (
    <section className="devices-block" aria-label={t`On the new device`}>
      <h3>{t`On the new device`}</h3>
      <ol className="devices-steps">
        <li>{t`Its browser is let in already: by a link that Roost printed, or because Roost was used there before.`}</li>
        <li>
          {t`Choose ${<b>{t`I have Roost on another device`}</b>}. If Roost was used there before: Settings, Devices, ${<b>{t`Join from another device`}</b>}.`}
        </li>
        <li>{t`It shows a code, good for five minutes.`}</li>
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
      <StepHead>{name === undefined ? t`The new device is one of yours now` : t`${name} is one of yours now`}</StepHead>
      <p>{t`It fetches who lives here, then the latest conversations, then the rest. You can use it meanwhile.`}</p>
      <button type="button" className="solid" onClick={onClose}>{t`Done`}</button>
    </div>
  );
}

/** For a device that is let in at the relay already, or has no camera. */
function OtherWay({ onOffer }: { onOffer: (offer: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="devices-other" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t`Another way: the new device shows a code, and this one takes it`}</summary>
      {open && (
        <>
          <OnTheOther />
          <TakeOffer onOffer={onOffer} />
        </>
      )}
    </details>
  );
}

/** The code that does it all, and below it the other way. */
function WaysIn({ code, onOffer }: { code: CodeKeeper; onOffer: (offer: string) => void }) {
  return (
    <>
      <DeviceCodeView keeper={code} />
      <OtherWay
        onOffer={(offer) => {
          // Nobody is to come by the code any more.
          code.end();
          onOffer(offer);
        }}
      />
    </>
  );
}

const NOTHING_CHANGED = t`Nothing was sent, and nothing has changed.`;

/**
 * Letting a device in, step by step. Where the team is not shared yet, the person agrees to that
 * first.
 */
export default function AddDevice({ onClose }: { onClose: () => void }) {
  const state = useRoost();
  const { notices } = state;
  const actions = deviceActionsOf(state);
  const shared = useDevices(({ status }) => status?.kind === 'shared');
  const invite = useStore(actions.invite, ({ now }) => now);
  const [offered, setOffered] = useState<string | null>(null);
  const take = useCallback(
    (offer: string) => {
      setOffered(offer);
      void actions.takeOffer(offer);
    },
    [actions],
  );
  const code = useDeviceCode(shared && invite.step === 'idle', take);
  const again = () => {
    code.end();
    code.again();
    setOffered(null);
    actions.leaveInvite();
  };
  const leave = () => {
    // Who is being sent the keys, or has them, stays.
    if (invite.step !== 'sending' && invite.step !== 'joined') code.end();
    actions.leaveInvite();
    onClose();
  };
  const answer = async (same: boolean) => {
    // Who is asked for keys is let in before they are sent; of who is not what it seemed, nothing
    // stays.
    const refused = same ? await code.letIn() : null;
    if (!same || refused !== null) code.end();
    if (refused !== null) notices.error(refused);
    await actions.answerInvite(same && refused === null);
    if (actions.invite.getState().now.step === 'failed') code.end();
  };

  function step(now: Invite): ReactNode {
    switch (now.step) {
      case 'idle':
        return <WaysIn code={code} onOffer={take} />;
      case 'taking':
        return <Progress label={t`Answering the other device…`} done={0} of={0} />;
      case 'comparing':
        return (
          <CompareWords
            words={now.words}
            elsewhere={t`If one is different, or the other device shows none, somebody may be in between: say no.`}
            onAnswer={(same) => void answer(same)}
          />
        );
      case 'sending':
        return (
          <div className="compare">
            <StepHead>{t`Say yes on the new device too`}</StepHead>
            <Progress
              label={t`Sending the keys, sealed for the new device…`}
              done={0}
              of={0}
              text={t`The same six words stand there.`}
            />
            <Words words={now.words} />
          </div>
        );
      case 'joined':
        return <Joined before={now.before} onClose={leave} />;
      case 'refused':
        return (
          <Wrong title={t`You said that the words differ.`} reason={t`${NOTHING_CHANGED} Begin again with a new code.`}>
            <button type="button" className="ghost" onClick={again}>{t`Begin again`}</button>
          </Wrong>
        );
      case 'failed':
        return (
          <Wrong title={t`The device was not added.`} reason={t`${now.reason} What is here has not changed.`}>
            <div className="devices-ways">
              {offered !== null && (
                <button type="button" className="ghost" onClick={() => take(offered)}>{t`Try again`}</button>
              )}
              <button type="button" className="ghost" onClick={again}>{t`Begin again`}</button>
            </div>
          </Wrong>
        );
      default:
        return now satisfies never;
    }
  }

  return (
    <Dialog title={t`Add a device`} onClose={leave}>
      <div className="devices">{shared ? step(invite) : <ShareFirst onClose={leave} />}</div>
    </Dialog>
  );
}
