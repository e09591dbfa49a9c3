/** The camera, asked for when the person wants it. */

export type Opened =
  { readonly ok: true; readonly stream: MediaStream } | { readonly ok: false; readonly reason: string };

const INSTEAD = 'A picture of the code, or its text, does as well.';

/** Names of errors as the Media Capture standard has them (getUserMedia). */
const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: `The camera was not allowed. Allow it for this address in the browser’s settings and try again. ${INSTEAD}`,
  NotFoundError: `There is no camera on this device. ${INSTEAD}`,
  OverconstrainedError: `There is no camera on this device that can be used. ${INSTEAD}`,
  NotReadableError: `The camera is in use by another program. Close that and try again. ${INSTEAD}`,
};

/** `origin`: where this page is, for the word on why a camera cannot be used there. */
export async function openCamera(origin: string): Promise<Opened> {
  if (!isSecureContext)
    return {
      ok: false,
      reason: `Browsers lend a camera only to pages that come over https or from this machine itself, and this one comes from ${origin}. ${INSTEAD}`,
    };
  // Some browsers have none of it.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  if (!devices?.getUserMedia) return { ok: false, reason: `This browser has no way to use a camera. ${INSTEAD}` };
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
    return { ok: false, reason: REASONS[error.name] ?? `The camera could not be used: ${error.message} ${INSTEAD}` };
  }
}

export const closeCamera = (stream: MediaStream): void => stream.getTracks().forEach((track) => track.stop());
