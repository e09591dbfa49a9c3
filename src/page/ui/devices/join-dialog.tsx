/** The dialog with which this device joins a household from another device. */
import { useCallback, useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { Joining } from '../../../shared/protocol/sync/page.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { WrongNote } from '../design/field.tsx';
import { Progress } from '../design/progress.tsx';
import { CopyableText } from '../parts/copyable-text.tsx';
import { CompareWords, NameField, StepHead, TwoTeams, Words, Wrong } from './dialog-parts.tsx';
import { guessDeviceName } from '../../../shared/domain/device-name.ts';
import { Countdown, QrCode, useLeft } from './qr-code.tsx';
import './devices.css';
import { problemText } from '../../state/ports.ts';
import { useAction } from '../design/use-action.ts';

/** The offer as a code to scan and as text. */
function Offer({
  offer,
  until,
  onAgain,
  onCancel,
}: {
  offer: string;
  until: number;
  onAgain: () => void;
  onCancel: () => void;
}) {
  const msLeft = useLeft(until);
  if (msLeft === 0)
    return (
      <Wrong reason={t`This code has expired.`}>
        <button type="button" className="ghost" onClick={onAgain}>{t`Make a new one`}</button>
      </Wrong>
    );
  return (
    <div className="offer centred-column stack gap-6 narrow">
      <StepHead>{t`Show this to your other device`}</StepHead>
      <p>{t`Open ${<b>{t`Add a device`}</b>} in its settings under Devices and data. Scan this there, or paste the text.`}</p>
      <figure className="centred-column stack gap-4">
        <QrCode text={offer} label={t`QR code`} />
        <figcaption>
          <Countdown left={msLeft} />
        </figcaption>
      </figure>
      <CopyableText text={offer} what={t`The code as text`} />
      <button type="button" className="ghost self-start" onClick={onCancel}>{t`Cancel`}</button>
    </div>
  );
}

function Waiting({ words, until }: { words: readonly string[]; until: number }) {
  const left = useLeft(until);
  return (
    <div className="compare stack gap-6 narrow">
      <StepHead>{t`Say yes on the other device too`}</StepHead>
      <Progress label={t`Working…`} done={0} of={0} />
      <Words words={words} />
      {left > 0 && <Countdown left={left} />}
    </div>
  );
}

function Begin({
  name,
  setName,
  begin,
  failed,
}: {
  name: string;
  setName: (name: string) => void;
  begin: () => Promise<void>;
  failed: string | null;
}) {
  const { busy, act } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') act(begin);
  };
  return (
    <form className="devices-block stack gap-5 narrow" onSubmit={submit} noValidate>
      <p>{t`This device shows a code for your other device. Both then show the same six words.`}</p>
      <TwoTeams />
      <NameField value={name} onChange={setName} />
      <WrongNote text={failed} />
      <div className="devices-ways gap-4 cluster">
        <button type="submit" className="solid" disabled={busy || name.trim() === ''}>
          {busy ? t`Loading…` : t`Show the code`}
        </button>
      </div>
    </form>
  );
}

/**
 * The offer was sent to the device whose code was opened here. `problem`: it could not be
 * delivered.
 */
function LeftOffer({ problem, children }: { problem: string | null; children: ReactNode }) {
  if (problem !== null)
    return (
      <>
        <WrongNote text={problem} />
        {children}
      </>
    );
  return (
    <div className="compare stack gap-6 narrow">
      <StepHead>{t`Look at your other device`}</StepHead>
      <Progress label={t`Working…`} done={0} of={0} />
    </div>
  );
}

interface Props {
  readonly onClose: () => void;
  /** This device has joined the household. */
  readonly onJoined: () => void;
  /** Another device’s code was opened here. That device waits for this one’s offer. */
  readonly byCode?: boolean;
}

/** Joins a household from another device, step by step. */
export default function JoinDialog({ onClose, onJoined, byCode = false }: Props) {
  const state = useRoost();
  const actions = deviceActionsOf(state);
  const status = useDevices((state) => state.status);
  const [name, setName] = useState(() => guessDeviceName(navigator.userAgent));
  const [failed, setFailed] = useState<string | null>(null);
  const joining = status === null || status.kind === 'shared' ? null : status.joining;
  const joined = status?.kind === 'shared';
  useEffect(() => {
    if (joined) onJoined();
  }, [joined, onJoined]);

  const leftOffer = useRef<string | null>(null);
  const [unleft, setUnleft] = useState<string | null>(null);
  useEffect(() => {
    if (!byCode || joining?.step !== 'offering' || leftOffer.current === joining.offer) return;
    const { offer } = joining;
    leftOffer.current = offer;
    void state
      .callRelay((client) => client.leaveJoinOffer({ body: { offer } }))
      .then((left) => setUnleft(left.ok ? null : problemText(left.problem)));
  }, [byCode, joining, state]);

  const begin = useCallback(
    () => actions.beginJoin(name.trim()).then((begun) => setFailed(begun.ok ? null : begun.reason)),
    [actions, name],
  );
  // The person has already asked for it by opening the code.
  const wasOpened = useRef(!byCode);
  useEffect(() => {
    if (wasOpened.current || status === null || status.kind === 'shared') return;
    wasOpened.current = true;
    if (status.joining !== null && status.joining.step !== 'failed') return;
    void begin();
  }, [status, begin]);
  const giveUp = async () => {
    const given = await actions.answerJoin(false);
    setFailed(given.ok ? null : given.reason);
  };
  const answer = async (same: boolean) => {
    const answered = await actions.answerJoin(same);
    setFailed(answered.ok ? (same ? null : t`You said that the words differ. Nothing was sent.`) : answered.reason);
  };
  const leave = () => {
    if (joining !== null) void giveUp();
    onClose();
  };

  const offerOf = ({ offer, until }: Extract<Joining, { step: 'offering' }>) => (
    <Offer offer={offer} until={until} onAgain={() => void begin()} onCancel={leave} />
  );
  function step(now: Joining): ReactNode {
    switch (now.step) {
      case 'offering':
        return byCode ? <LeftOffer problem={unleft}>{offerOf(now)}</LeftOffer> : offerOf(now);
      case 'comparing':
        return <CompareWords words={now.words} onAnswer={(same) => void answer(same)} />;
      case 'waiting':
        return <Waiting words={now.words} until={now.until} />;
      case 'failed':
        return (
          <Wrong reason={now.reason}>
            <button type="button" className="ghost" onClick={() => void begin()}>{t`Make a new one`}</button>
          </Wrong>
        );
      default:
        return now satisfies never;
    }
  }

  return (
    <Dialog title={t`Join from another device`} onClose={leave}>
      <div className="devices stack gap-7 narrow ink-2 text-3">
        {joined ? (
          <Progress label={t`This device has joined. Your team is on its way here.`} done={0} of={0} />
        ) : joining === null || failed !== null ? (
          <Begin name={name} setName={setName} begin={begin} failed={failed} />
        ) : (
          step(joining)
        )}
      </div>
    </Dialog>
  );
}
