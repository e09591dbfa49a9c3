import { useEffect, useRef, useState } from 'react';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { readFrame } from './pixels.ts';

/** The camera, asked for when the person wants it. */

type Opened = { readonly ok: true; readonly stream: MediaStream } | { readonly ok: false; readonly reason: string };

const INSTEAD = t`A picture of the code, or its text, does as well.`;

/** Names of errors as the Media Capture standard has them (getUserMedia). */
const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: t`The camera was not allowed. Allow it for this address in the browser’s settings and try again. ${INSTEAD}`,
  NotFoundError: t`There is no camera on this device. ${INSTEAD}`,
  OverconstrainedError: t`There is no camera on this device that can be used. ${INSTEAD}`,
  NotReadableError: t`The camera is in use by another program. Close that and try again. ${INSTEAD}`,
};

/** `origin`: where this page is, for the word on why a camera cannot be used there. */
async function openCamera(origin: string): Promise<Opened> {
  if (!isSecureContext)
    return {
      ok: false,
      reason: t`Browsers lend a camera only to pages that come over https or from this machine itself, and this one comes from ${origin}. ${INSTEAD}`,
    };
  // Some browsers have none of it.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  if (!devices?.getUserMedia) return { ok: false, reason: t`This browser has no way to use a camera. ${INSTEAD}` };
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
    return { ok: false, reason: REASONS[error.name] ?? t`The camera could not be used: ${error.message} ${INSTEAD}` };
  }
}

const closeCamera = (stream: MediaStream): void => stream.getTracks().forEach((track) => track.stop());

/**
 * ms between looks at what the camera sees: a hand that holds a phone is found still soon enough.
 */
const LOOK_EVERY = 120;

/** What the camera sees, until a code is in it. */
function Viewfinder({ stream, onRead }: { stream: MediaStream; onRead: (text: string) => void }) {
  const { device } = useRoost();
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const player = video.current;
    if (!player) return;
    player.srcObject = stream;
    // A video that is left before it plays rejects, and nothing is lost by it.
    player.play().catch(() => undefined);
    let stop: () => void = () => undefined;
    const look = () => {
      const text = readFrame(player);
      if (text === null) stop = device.after(LOOK_EVERY, look);
      else onRead(text);
    };
    look();
    return () => {
      stop();
      player.srcObject = null;
    };
  }, [stream, device, onRead]);
  return (
    <div className="viewfinder">
      <video ref={video} muted playsInline aria-label={t`What the camera sees`} />
      <i aria-hidden="true" />
    </div>
  );
}

type Camera =
  | { readonly kind: 'off'; readonly failed: string | null }
  | { readonly kind: 'asking' }
  | { readonly kind: 'on'; readonly stream: MediaStream };

/**
 * Scanning with the camera. The browser asks the person when the button is pressed, and not before.
 */
export function Scan({ onRead }: { onRead: (text: string) => void }) {
  const [camera, setCamera] = useState<Camera>({ kind: 'off', failed: null });
  const open = useRef<MediaStream | null>(null);
  const gone = useRef(false);
  const close = () => {
    if (open.current) closeCamera(open.current);
    open.current = null;
  };
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
      close();
    };
  }, []);
  // One for each stream, so that the viewfinder does not begin anew with every render.
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
    if (gone.current) return closeCamera(opened.stream);
    open.current = opened.stream;
    setCamera({ kind: 'on', stream: opened.stream });
  };
  if (camera.kind === 'on')
    return (
      <div className="scan">
        <Viewfinder stream={camera.stream} onRead={found} />
        <p role="status">{t`Hold the code of the new device before the camera.`}</p>
        <button
          type="button"
          className="ghost"
          onClick={() => {
            close();
            setCamera({ kind: 'off', failed: null });
          }}
        >{t`Stop the camera`}</button>
      </div>
    );
  return (
    <div className="scan">
      <button type="button" className="solid" disabled={camera.kind === 'asking'} onClick={() => void start()}>
        {camera.kind === 'asking' ? t`Asking for the camera…` : t`Scan with the camera`}
      </button>
      {camera.kind === 'off' && camera.failed !== null && (
        <p className="devices-warning" role="alert">
          {camera.failed}
        </p>
      )}
    </div>
  );
}
