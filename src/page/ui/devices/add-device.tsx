/**
 * The dialog that lets another device in. It shows a code, or takes an offer by camera, picture or
 * text.
 */
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { DEVICE_CODES, deviceLink } from '../../../shared/protocol/device-code-settings.ts';
import type { DeviceCode, Tailnet } from '../../../shared/protocol/device-codes.ts';
import { asBeginning } from '../text/sizes.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { deviceActionsOf, type Invite } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Progress } from '../design/progress.tsx';
import { Dialog } from '../design/dialog.tsx';
import { DropZone } from '../design/drop-zone.tsx';
import { WrongNote } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';
import { CopyableText } from '../parts/copyable-text.tsx';
import { CompareWords, PasteText, ShareFirst, StepHead, Words, Wrong } from './dialog-parts.tsx';
import { Countdown, type Pixels, QrCode, readQr, useLeft } from './qr-code.tsx';
import './devices.css';

// One code with which another device is let in and joins. It is shown and polled until that device
// has left its offer.

type Shown =
  | { readonly step: 'making' }
  | { readonly step: 'open' | 'opened'; readonly code: DeviceCode }
  | { readonly step: 'over' }
  | { readonly step: 'failed'; readonly reason: string };

/** `[::1]`, `localhost`, `127.0.0.1`: addresses that only this machine can open. */
const isOwnMachine = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

/** An origin that other machines can open, as far as is known here; null: none. */
function reachableFrom({ address }: DeviceCode): string | null {
  return isOwnMachine(location.hostname) ? address : location.origin;
}

export interface CodeStore {
  readonly shown: Shown;
  readonly again: () => void;
  /**
   * Called after the person has compared the words. null: the device that used the code keeps its
   * access; otherwise an error.
   */
  readonly letIn: () => Promise<string | null>;
  /** Revokes the access of the device that used the code, since it did not join. */
  readonly end: () => void;
}

/** Creates a code and polls it while it is `wanted`, until an offer has arrived. */
function useDeviceCode(wanted: boolean, onOffer: (offer: string) => void): CodeStore {
  const { callRelay, device } = useRoost();
  const [turn, setTurn] = useState(0);
  const [made, setMade] = useState<DeviceCode | null>(null);
  const [shown, setShown] = useState<Shown>({ step: 'making' });
  /** The offer arrived by the code. With any other way, no device was let in. */
  const [came, setCame] = useState(false);

  useEffect(() => {
    if (!wanted) return undefined;
    let left = false;
    void callRelay((client) => client.makeDeviceCode()).then((answer) => {
      if (left) return answer.ok && void callRelay((client) => client.endDeviceCode({ id: answer.value.id }));
      setMade(answer.ok ? answer.value : null);
      setShown(
        answer.ok ? { step: 'open', code: answer.value } : { step: 'failed', reason: problemText(answer.problem) },
      );
    });
    return () => {
      left = true;
    };
  }, [callRelay, turn, wanted]);

  useEffect(() => {
    if (!wanted || made === null) return undefined;
    let stop: () => void = () => undefined;
    let over = false;
    const poll = async () => {
      const answer = await callRelay((client) => client.deviceCode({ id: made.id }));
      if (over) return;
      // A relay that is unreachable for a moment changes nothing.
      if (answer.ok) {
        const { state, offer } = answer.value;
        if (state === 'offered' && offer !== null) {
          setCame(true);
          return onOffer(offer);
        }
        if (state === 'over') return setShown({ step: 'over' });
        setShown({ step: state === 'open' ? 'open' : 'opened', code: made });
      }
      stop = device.after(DEVICE_CODES.pollEveryMs, () => void poll());
    };
    void poll();
    return () => {
      over = true;
      stop();
    };
  }, [wanted, made, callRelay, device, onOffer]);

  return {
    shown,
    again: useCallback(() => {
      setMade(null);
      setCame(false);
      setShown({ step: 'making' });
      setTurn((turns) => turns + 1);
    }, []),
    letIn: useCallback(async () => {
      if (made === null || !came) return null;
      const answer = await callRelay((client) => client.letDeviceIn({ id: made.id }));
      return answer.ok ? null : problemText(answer.problem);
    }, [callRelay, made, came]),
    end: useCallback(() => {
      if (made !== null) void callRelay((client) => client.endDeviceCode({ id: made.id }));
    }, [callRelay, made]),
  };
}

/** ms between two looks whether Tailscale has come to this machine, or leads here by now. */
const LOOK_EVERY_MS = 3_000;

/** What Tailscale on the relay's machine can do. null: not known yet. */
function useTailnet(onAddress: (address: string) => void): Tailnet | null {
  const { callRelay, device } = useRoost();
  const [tailnet, setTailnet] = useState<Tailnet | null>(null);
  useEffect(() => {
    let over = false;
    let stop: () => void = () => undefined;
    const look = async () => {
      const answer = await callRelay((client) => client.tailnet());
      if (over) return;
      if (answer.ok) setTailnet(answer.value);
      if (answer.ok && answer.value.address !== null) return onAddress(answer.value.address);
      stop = device.after(LOOK_EVERY_MS, () => void look());
    };
    void look();
    return () => {
      over = true;
      stop();
    };
  }, [callRelay, device, onAddress]);
  return tailnet;
}

/** The page's address works on this machine only. `onAddress`: now the relay has another, too. */
function OutOfReach({ onAddress }: { onAddress: (address: string) => void }) {
  const { callRelay } = useRoost();
  const tailnet = useTailnet(onAddress);
  const { busy, failed, act } = useAction();
  const serve = () =>
    act(async () => {
      const answer = await callRelay((client) => client.serveTailnet());
      if (!answer.ok) return problemText(answer.problem);
      onAddress(answer.value.address);
      return null;
    });
  return (
    <div className="device-reach framed-strong pad-wide full gap-4 stack text-3 round ground-2" role="note">
      <p>
        <strong>{t`Your phone can’t reach this address yet.`}</strong>
      </p>
      {tailnet?.canServe === true ? (
        <>
          <p>{t`Tailscale can give Roost an address that only your own devices reach.`}</p>
          <button type="button" className="solid" disabled={busy} onClick={serve}>
            {busy ? t`Working…` : t`Set it up`}
          </button>
          <WrongNote text={failed} />
        </>
      ) : (
        <ol className="numbered stack gap-5">
          <li>{t`Install ${(
            <a href="https://tailscale.com/download" target="_blank" rel="noopener noreferrer nofollow">
              {'Tailscale'}
            </a>
          )} on this computer and on the phone.`}</li>
          <li>{t`Sign in on both with the same account.`}</li>
          <li>{t`Come back here for the last step.`}</li>
        </ol>
      )}
    </div>
  );
}

/** The code for the other device’s camera. */
function DeviceCodeView({ keeper: { shown, again } }: { keeper: CodeStore }) {
  const msLeft = useLeft(shown.step === 'open' ? shown.code.until : Infinity);
  const [address, setAddress] = useState<string | null>(null);
  switch (shown.step) {
    case 'making':
      return <Progress label={t`Loading…`} done={0} of={0} />;
    case 'failed':
      return (
        <Wrong reason={shown.reason}>
          <button type="button" className="ghost" onClick={again}>{t`Try again`}</button>
        </Wrong>
      );
    case 'over':
      return (
        <Wrong reason={t`This code has expired.`}>
          <button type="button" className="ghost" onClick={again}>{t`Make a new one`}</button>
        </Wrong>
      );
    case 'opened':
      return (
        <Progress
          label={t`A device has opened the code…`}
          done={0}
          of={0}
          text={t`If it is not yours, close this. That revokes its access.`}
        />
      );
    case 'open': {
      const reachable = reachableFrom(shown.code) ?? address;
      const link = deviceLink(reachable ?? location.origin, shown.code.code);
      return (
        <div className="offer centred-column stack gap-6 narrow">
          {reachable === null ? (
            <>
              <OutOfReach onAddress={setAddress} />
              <Countdown left={msLeft} />
            </>
          ) : (
            <>
              <p>{t`Scan this with the new device’s camera, or open the link there.`}</p>
              <figure className="centred-column stack gap-4">
                <QrCode text={link} label={t`QR code`} />
                <figcaption>
                  <Countdown left={msLeft} />
                </figcaption>
              </figure>
            </>
          )}
          <CopyableText text={link} what={t`Link`} />
        </div>
      );
    }
    default:
      return shown satisfies never;
  }
}

// Reads codes from pictures and from the camera.

/** px: the longer side to which a camera frame is scaled. */
const FRAME_SIDE = 960;
/**
 * px: the longer sides at which a picture is read, one after the other. A screenshot is read as it
 * is, a photo scaled down, then up again for a small code in it.
 */
const PICTURE_SIDES = [1_600, 3_200, 800];

type Drawn = { readonly source: CanvasImageSource; readonly width: number; readonly height: number };

/** Never enlarges. */
function pixelsOf({ source, width, height }: Drawn, longest: number): Pixels | null {
  const scale = Math.min(1, longest / Math.max(width, height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return null;
  // Transparent areas become white, like paper.
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

/** The code in the current camera frame, or null. */
function readFrame(video: HTMLVideoElement): string | null {
  const { videoWidth: width, videoHeight: height } = video;
  if (width === 0 || height === 0) return null;
  const pixels = pixelsOf({ source: video, width, height }, FRAME_SIDE);
  return pixels && readQr(pixels);
}

export type PictureRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

const NO_CODE = t`No code found in this picture. Take it from nearer, with all four corners in view.`;

/** The code in a picture. */
async function readPicture(file: Blob): Promise<PictureRead> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch (error) {
    if (error instanceof DOMException || error instanceof TypeError) return { ok: false, reason: NO_CODE };
    throw error;
  }
  try {
    for (const side of PICTURE_SIDES) {
      const pixels = pixelsOf({ source: bitmap, width: bitmap.width, height: bitmap.height }, side);
      const text = pixels && readQr(pixels, true);
      if (text !== null) return { ok: true, text };
    }
    return { ok: false, reason: NO_CODE };
  } finally {
    bitmap.close();
  }
}

// The camera, opened only when the person asks for it.

type Opened = { readonly ok: true; readonly stream: MediaStream } | { readonly ok: false; readonly reason: string };

const NO_CAMERA = t`This device has no camera. Use a picture of the code, or its text.`;

/** Error names from the Media Capture standard (getUserMedia). */
const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: t`The camera is not allowed. Allow it in the browser’s settings, or use a picture of the code.`,
  NotFoundError: NO_CAMERA,
  OverconstrainedError: NO_CAMERA,
  NotReadableError: t`Another program uses the camera. Close it and try again.`,
};

/** `origin`: of this page, to explain why a camera is unavailable there. */
async function openCamera(origin: string): Promise<Opened> {
  if (!isSecureContext)
    return {
      ok: false,
      reason: t`The camera needs https, and this page comes from ${origin}. Use a picture of the code, or its text.`,
    };
  // Some browsers lack it.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  if (!devices?.getUserMedia) return { ok: false, reason: NO_CAMERA };
  try {
    return {
      ok: true,
      stream: await devices.getUserMedia({
        audio: false,
        video: { facingMode: 'environment', width: { ideal: 1280 }, height: { ideal: 720 } },
      }),
    };
  } catch (error) {
    if (!(error instanceof Error || error instanceof DOMException)) throw error;
    return { ok: false, reason: REASONS[error.name] ?? error.message };
  }
}

const closeCamera = (stream: MediaStream): void => stream.getTracks().forEach((track) => track.stop());

/** ms between camera frames that are read. Short enough for a phone held by hand. */
const SCAN_EVERY = 120;

/** The camera image, until a code is read. */
function Viewfinder({ stream, onRead }: { stream: MediaStream; onRead: (text: string) => void }) {
  const { device } = useRoost();
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const player = video.current;
    if (!player) return;
    player.srcObject = stream;
    // A video that is removed before it plays rejects. That is harmless.
    player.play().catch(() => undefined);
    let stop: () => void = () => undefined;
    const scan = () => {
      const text = readFrame(player);
      if (text === null) stop = device.after(SCAN_EVERY, scan);
      else onRead(text);
    };
    scan();
    return () => {
      stop();
      player.srcObject = null;
    };
  }, [stream, device, onRead]);
  return (
    <div className="viewfinder relative round-l clip full">
      <video className="full block" ref={video} muted playsInline aria-label={t`Scan with the camera`} />
      <i className="round" aria-hidden="true" />
    </div>
  );
}

type Camera =
  | { readonly kind: 'off'; readonly failed: string | null }
  | { readonly kind: 'asking' }
  | { readonly kind: 'on'; readonly stream: MediaStream };

/** Scans with the camera. The browser asks for permission only when the button is pressed. */
export function Scan({ onRead }: { onRead: (text: string) => void }) {
  const [camera, setCamera] = useState<Camera>({ kind: 'off', failed: null });
  const open = useRef<MediaStream | null>(null);
  const isClosed = useRef(false);
  const close = () => {
    if (open.current) closeCamera(open.current);
    open.current = null;
  };
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
      close();
    };
  }, []);
  // Keeps the callback current, so that the viewfinder does not restart with every render.
  const read = useRef(onRead);
  useEffect(() => {
    read.current = onRead;
  });
  const [found] = useState(() => (text: string) => {
    close();
    setCamera({ kind: 'off', failed: null });
    read.current(text);
  });
  const start = async () => {
    setCamera({ kind: 'asking' });
    const opened = await openCamera(location.origin);
    if (!opened.ok) return setCamera({ kind: 'off', failed: opened.reason });
    if (isClosed.current) return closeCamera(opened.stream);
    open.current = opened.stream;
    setCamera({ kind: 'on', stream: opened.stream });
  };
  if (camera.kind === 'on')
    return (
      <div className="gap-4 stack at-start narrow">
        <Viewfinder stream={camera.stream} onRead={found} />
        <button
          type="button"
          className="ghost"
          onClick={() => {
            close();
            setCamera({ kind: 'off', failed: null });
          }}
        >{t`Stop`}</button>
      </div>
    );
  return (
    <div className="gap-4 stack at-start narrow">
      <button type="button" className="solid" disabled={camera.kind === 'asking'} onClick={() => void start()}>
        {camera.kind === 'asking' ? t`Loading…` : t`Scan with the camera`}
      </button>
      {camera.kind === 'off' && camera.failed !== null && (
        <p className="warn-box round pad-wide" role="alert">
          {camera.failed}
        </p>
      )}
    </div>
  );
}

/** How an offer begins, whatever surrounds it. The data worker parses the rest. */
const OFFER = /roost\s*\d+\s*\./iu;

/** Handles pictures that are pasted anywhere while this is shown. */
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

/** Ways to transfer an offer from the other device: camera, picture or text. */
function TakeOffer({ onOffer }: { onOffer: (offer: string) => void }) {
  const [unread, setUnread] = useState<string | null>(null);
  const [looking, setLooking] = useState(false);
  const takeCode = (code: string) => {
    if (OFFER.test(code)) onOffer(code);
    else setUnread(t`This is not a Roost code. Use the one that the new device shows.`);
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
    if (!OFFER.test(text)) return t`This is not a Roost code. Use the one that the new device shows.`;
    onOffer(text);
    return null;
  };
  return (
    <section className="devices-block stack gap-5 narrow" aria-label={asBeginning(t`on this device`)}>
      <h3>{asBeginning(t`on this device`)}</h3>
      <Scan onRead={takeCode} />
      <DropZone label={t`Choose a picture of the code`} accept="image/*" onFile={(file) => void picture(file)}>
        {looking ? t`Loading…` : t`or drop or paste it here`}
      </DropZone>
      {unread !== null && <Wrong reason={unread} />}
      <PasteText label={t`The code as text`} placeholder={`ROOST1.…`} button={t`Add`} onText={takeText} />
    </section>
  );
}

/** What to do first on the other device. */
function OnTheOther() {
  return (
    <section className="devices-block stack gap-5 narrow" aria-label={t`On the new device`}>
      <h3>{t`On the new device`}</h3>
      <p>
        {t`Choose ${<b>{t`I have Roost on another device`}</b>}, or in its settings under Devices and data ${<b>{t`Join from another device`}</b>}.`}
      </p>
    </section>
  );
}

function Joined({ onClose }: { onClose: () => void }) {
  return (
    <div className="done-box stack at-start gap-4 pad-wide" role="status">
      <StepHead>{t`Device added`}</StepHead>
      <button type="button" className="solid" onClick={onClose}>{t`Done`}</button>
    </div>
  );
}

/** For a device that already has access to the relay, or has no camera. */
function OtherWay({ onOffer }: { onOffer: (offer: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="devices-other" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-3 touchable ink-2">{t`The new device shows a code instead`}</summary>
      {open && (
        <>
          <OnTheOther />
          <TakeOffer onOffer={onOffer} />
        </>
      )}
    </details>
  );
}

/** The code that does everything, and the alternative below it. */
function WaysIn({ code, onOffer }: { code: CodeStore; onOffer: (offer: string) => void }) {
  return (
    <>
      <DeviceCodeView keeper={code} />
      <OtherWay
        onOffer={(offer) => {
          // The code must not be used any more.
          code.end();
          onOffer(offer);
        }}
      />
    </>
  );
}

/**
 * Lets a device in, step by step. If the team is not shared yet, the person agrees to that first.
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
    // A device that is being sent the keys, or has them, keeps its access.
    if (invite.step !== 'sending' && invite.step !== 'joined') code.end();
    actions.leaveInvite();
    onClose();
  };
  const answer = async (same: boolean) => {
    // A device gets access before it is sent the keys. If the words differ, its access is revoked.
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
        return <Progress label={t`Working…`} done={0} of={0} />;
      case 'comparing':
        return <CompareWords words={now.words} onAnswer={(same) => void answer(same)} />;
      case 'sending':
        return (
          <div className="compare stack gap-6 narrow">
            <StepHead>{t`Say yes on the other device too`}</StepHead>
            <Progress label={t`Working…`} done={0} of={0} />
            <Words words={now.words} />
          </div>
        );
      case 'joined':
        return <Joined onClose={leave} />;
      case 'refused':
        return (
          <Wrong reason={t`You said that the words differ. Nothing was sent.`}>
            <button type="button" className="ghost" onClick={again}>{t`Begin again`}</button>
          </Wrong>
        );
      case 'failed':
        return (
          <Wrong reason={now.reason}>
            <div className="devices-ways gap-4 cluster">
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
      <div className="devices stack gap-7 narrow ink-2 text-3">
        {shared ? step(invite) : <ShareFirst onClose={leave} />}
      </div>
    </Dialog>
  );
}
