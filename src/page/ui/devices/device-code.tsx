/**
 * One code that lets another device in and has it join: it is shown, and watched until that device
 * has left its offer.
 */
import { useCallback, useEffect, useState } from 'react';
import { t } from '../../language/t.ts';
import { DEVICE_CODES, deviceLink } from '../../../shared/protocol/device-code-settings.ts';
import type { DeviceCode } from '../../../shared/protocol/device-codes.ts';
import { useRoost } from '../context.tsx';
import { Progress } from '../parts/progress.tsx';
import { CopyableText } from './copy-text.tsx';
import { Countdown, QrCode, useLeft } from './qr-code.tsx';
import { Wrong } from './wrong.tsx';
import { problemText } from '../../state/ports.ts';

type Shown =
  | { readonly step: 'making' }
  | { readonly step: 'open' | 'opened'; readonly code: DeviceCode }
  | { readonly step: 'over' }
  | { readonly step: 'failed'; readonly reason: string };

/** `[::1]`, `localhost`, `127.0.0.1`: what only this machine itself can open. */
const isOwnMachine = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

/** An origin that other machines can open, as far as is known here; null: none is. */
function reachableFrom({ address }: DeviceCode): string | null {
  return isOwnMachine(location.hostname) ? address : location.origin;
}

export interface CodeKeeper {
  readonly shown: Shown;
  readonly again: () => void;
  /** The person has compared the words. Null: whoever came by the code stays; else why not. */
  readonly letIn: () => Promise<string | null>;
  /** Whoever came by it is out: it did not become a device. */
  readonly end: () => void;
}

/** Makes a code and watches it while it is `wanted`: until an offer has come by it. */
export function useDeviceCode(wanted: boolean, onOffer: (offer: string) => void): CodeKeeper {
  const { reach, device } = useRoost();
  const [turn, setTurn] = useState(0);
  const [made, setMade] = useState<DeviceCode | null>(null);
  const [shown, setShown] = useState<Shown>({ step: 'making' });
  /** The offer came by it. By another way nobody was let in. */
  const [came, setCame] = useState(false);

  useEffect(() => {
    if (!wanted) return undefined;
    let left = false;
    void reach((client) => client.makeDeviceCode()).then((answer) => {
      if (left) return answer.ok && void reach((client) => client.endDeviceCode({ id: answer.value.id }));
      setMade(answer.ok ? answer.value : null);
      setShown(
        answer.ok ? { step: 'open', code: answer.value } : { step: 'failed', reason: problemText(answer.problem) },
      );
    });
    return () => {
      left = true;
    };
  }, [reach, turn, wanted]);

  useEffect(() => {
    if (!wanted || made === null) return undefined;
    let stop: () => void = () => undefined;
    let over = false;
    const look = async () => {
      const answer = await reach((client) => client.deviceCode({ id: made.id }));
      if (over) return;
      // A relay that is out of reach for a moment changes nothing.
      if (answer.ok) {
        const { state, offer } = answer.value;
        if (state === 'offered' && offer !== null) {
          setCame(true);
          return onOffer(offer);
        }
        if (state === 'over') return setShown({ step: 'over' });
        setShown({ step: state === 'open' ? 'open' : 'opened', code: made });
      }
      stop = device.after(DEVICE_CODES.lookEveryMs, () => void look());
    };
    void look();
    return () => {
      over = true;
      stop();
    };
  }, [wanted, made, reach, device, onOffer]);

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
      const answer = await reach((client) => client.letDeviceIn({ id: made.id }));
      return answer.ok ? null : problemText(answer.problem);
    }, [reach, made, came]),
    end: useCallback(() => {
      if (made !== null) void reach((client) => client.endDeviceCode({ id: made.id }));
    }, [reach, made]),
  };
}

/** Only this machine answers under the address that the page has. */
function OutOfReach() {
  return (
    <div className="device-reach" role="note">
      <p>
        {t`${<strong>{t`A phone cannot open this yet.`}</strong>} Roost answers on this computer alone (${location.host}). The README says how to let your other devices reach it, safely: “Reach it from a phone”. Then open Roost by that address here, and the code stands in this place.`}
      </p>
      <p>{t`For another browser on this computer the link below does.`}</p>
    </div>
  );
}

/** What the other device’s camera is pointed at. */
export function DeviceCodeView({ keeper: { shown, again } }: { keeper: CodeKeeper }) {
  const left = useLeft(shown.step === 'open' ? shown.code.until : Infinity);
  switch (shown.step) {
    case 'making':
      return <Progress label={t`Making a code…`} done={0} of={0} />;
    case 'failed':
      return (
        <Wrong title={t`No code could be made.`} reason={shown.reason}>
          <button type="button" className="ghost" onClick={again}>{t`Try again`}</button>
        </Wrong>
      );
    case 'over':
      return (
        <Wrong title={t`This code has run out.`} reason={t`It was good for five minutes, once. Nothing has changed.`}>
          <button type="button" className="ghost" onClick={again}>{t`Make a new code`}</button>
        </Wrong>
      );
    case 'opened':
      return (
        <Progress
          label={t`A device has opened the code…`}
          done={0}
          of={0}
          text={t`In a moment the same six words stand here and there. If it is none of yours, close this: it is out again then.`}
        />
      );
    case 'open': {
      const reachable = reachableFrom(shown.code);
      const link = deviceLink(reachable ?? location.origin, shown.code.code);
      return (
        <div className="offer">
          {reachable === null ? (
            <>
              <OutOfReach />
              <Countdown left={left} />
            </>
          ) : (
            <>
              <p>{t`Point the new device’s camera at this, or open the link there. Both then show the same six words.`}</p>
              <figure className="offer-code">
                <QrCode text={link} label={t`QR code that opens Roost on the new device; the link stands below`} />
                <figcaption>
                  <Countdown left={left} />
                </figcaption>
              </figure>
            </>
          )}
          <CopyableText text={link} what={t`The link`} />
        </div>
      );
    }
    default:
      return shown satisfies never;
  }
}
