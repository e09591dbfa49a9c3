import { useEffect, useState, type FormEvent, type ReactNode, useMemo } from 'react';
import type { Joining } from '../../protocol/sync/page.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Progress } from '../parts/progress.tsx';
import { CopyableText } from './copy-text.tsx';
import { useNow } from '../use-now.ts';
import { guessDeviceName } from '../../domain/device-name.ts';
import { NameField } from './name-field.tsx';
import { modulesOf, pathOf } from './qr.ts';
import { CompareWords, Words } from './six-words.tsx';
import { StepHead } from './step-head.tsx';
import { TwoTeams } from './two-teams.tsx';
import { Wrong } from './wrong.tsx';
import './devices.css';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** `4:07` */
const clock = (ms: number) =>
  `${Math.floor(ms / MINUTE)}:${String(Math.floor((ms % MINUTE) / SECOND)).padStart(2, '0')}`;

/** How long is left until `until` (ms since the epoch); 0 once it is over. */
function useLeft(until: number): number {
  const now = useNow(SECOND);
  return Math.max(0, until - now);
}

/** How long an offer is good for. Its last minute is said once to those who listen; the seconds are not. */
function Countdown({ left }: { left: number }) {
  return (
    <p className="countdown">
      Good for{' '}
      <span role="timer" aria-live="off">
        {clock(left)}
      </span>
      <span className="visually-hidden" role="status">
        {left <= MINUTE && left > 0 ? 'Less than a minute is left.' : ''}
      </span>
    </p>
  );
}

/** A QR code, dark on light in both themes: that is what cameras look for. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const modules = modulesOf(text);
    return { size: modules.length, path: pathOf(modules) };
  }, [text]);
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#0a0c14" />
    </svg>
  );
}

/** The offer: a code to be scanned, and the same as text. */
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
  const left = useLeft(until);
  if (left === 0)
    return (
      <Wrong
        title="This offer has run out."
        reason="It was good for five minutes, and nobody took it. Nothing has changed."
      >
        <button type="button" className="ghost" onClick={onAgain}>
          Make a new offer
        </button>
      </Wrong>
    );
  return (
    <div className="offer">
      <StepHead>Show this to a device that has your team</StepHead>
      <p>
        There: Settings, Devices, <b>Add a device</b>. Scan this, or bring the text below.
      </p>
      <figure className="offer-code">
        <QrCode text={offer} label="QR code of the offer; the same stands below as text" />
        <figcaption>
          <Countdown left={left} />
        </figcaption>
      </figure>
      <CopyableText text={offer} what="The offer as text" />
      <button type="button" className="ghost" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function Waiting({ words, until }: { words: readonly string[]; until: number }) {
  const left = useLeft(until);
  return (
    <div className="compare">
      <StepHead>Say yes on the other device too</StepHead>
      <Progress label="Waiting for the other device…" done={0} of={0} text="The same six words stand there." />
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
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || name.trim() === '') return;
    setBusy(true);
    await begin();
    setBusy(false);
  };
  return (
    <form className="devices-block" onSubmit={(event) => void submit(event)} noValidate>
      <p>
        This device shows a code. A device that has your team takes it, both show the same six words, and then your team
        is here too.
      </p>
      <TwoTeams />
      <NameField value={name} onChange={setName} />
      {failed !== null && <Wrong title="This device has not joined." reason={`${failed} Nothing has changed.`} />}
      <div className="devices-ways">
        <button type="submit" className="solid" disabled={busy || name.trim() === ''}>
          {busy ? 'Making an offer…' : 'Show the code'}
        </button>
      </div>
    </form>
  );
}

/** Joining from another device, step by step. `onJoined`: this device is one of the household. */
export default function JoinDialog({ onClose, onJoined }: { onClose: () => void; onJoined: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const status = useDevices((state) => state.status);
  const [name, setName] = useState(() => guessDeviceName(navigator.userAgent));
  const [failed, setFailed] = useState<string | null>(null);
  const joining = status === null || status.kind === 'shared' ? null : status.joining;
  const joined = status?.kind === 'shared';
  useEffect(() => {
    if (joined) onJoined();
  }, [joined, onJoined]);

  const begin = async () => {
    const begun = await actions.beginJoin(name.trim());
    setFailed(begun.ok ? null : begun.reason);
  };
  const giveUp = async () => {
    const given = await actions.answerJoin(false);
    setFailed(given.ok ? null : given.reason);
  };
  const answer = async (same: boolean) => {
    const answered = await actions.answerJoin(same);
    setFailed(
      answered.ok
        ? same
          ? null
          : 'You said that the words differ. Make a new offer, and compare again.'
        : answered.reason,
    );
  };
  const leave = () => {
    if (joining !== null) void giveUp();
    onClose();
  };

  function step(now: Joining): ReactNode {
    switch (now.step) {
      case 'offering':
        return <Offer offer={now.offer} until={now.until} onAgain={() => void begin()} onCancel={leave} />;
      case 'comparing':
        return (
          <CompareWords
            words={now.words}
            elsewhere="The other device shows six words too. If one is different, somebody may be in between: say no."
            onAnswer={(same) => void answer(same)}
          />
        );
      case 'waiting':
        return <Waiting words={now.words} until={now.until} />;
      case 'failed':
        return (
          <Wrong title="This device has not joined." reason={`${now.reason} Nothing has changed.`}>
            <button type="button" className="ghost" onClick={() => void begin()}>
              Make a new offer
            </button>
          </Wrong>
        );
      default:
        return now satisfies never;
    }
  }

  return (
    <Dialog title="Join from another device" onClose={leave}>
      <div className="devices">
        {joined ? (
          <Progress label="This device is one of yours now…" done={0} of={0} />
        ) : joining === null || failed !== null ? (
          <Begin name={name} setName={setName} begin={begin} failed={failed} />
        ) : (
          step(joining)
        )}
      </div>
    </Dialog>
  );
}
