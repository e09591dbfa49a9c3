/** The notifications on this device and the others. */
import { type FormEvent, useId, useState } from 'react';
import type { Notifications, PushContact } from '../../../shared/protocol/notifications.ts';
import { chosenKind, NOTIFICATION_KINDS, type NotificationKind } from '../../../shared/domain/talk.ts';
import { t } from '../../language/t.ts';
import { type Notified, notificationsOf, whyNoPush } from '../../state/notifications.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { asBeginning } from '../text/sizes.ts';

// The contact address for push services, and advice if one has refused a push.

/** What to do about a refused push; `status`: the answer of its push service. */
const refusedText = (status: number): string =>
  status === 401 || status === 403
    ? t`Its push service refused it (${status}). Give your mail address below. Then switch notifications off and on there.`
    : t`Its push service refused it (${status}). Switch notifications off and on there.`;

function Refused({ device }: { device: Notifications['devices'][number] }) {
  if (device.refused === null) return null;
  return (
    <p className="settings-note under-6 ink-2 text-3" role="alert">
      {t`${device.here ? asBeginning(t`this device`) : device.name} gets no notifications. ${refusedText(device.refused)}`}
    </p>
  );
}

function PushContactForm({ contact, told }: { contact: PushContact; told: Notified }) {
  const id = useId();
  const [mail, setMail] = useState(contact.mail ?? '');
  const [status, setStatus] = useState('');
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!event.currentTarget.checkValidity()) return setStatus(t`Write an e-mail address.`);
    setStatus(t`Saving…`);
    const done = await told.putContact(mail.trim() === '' ? null : mail.trim());
    setStatus(done.ok ? t`Saved` : done.reason);
  };
  const hint =
    contact.subject === null
      ? t`Safari needs your mail address. Only push services get it.`
      : t`Push services get ${contact.subject.replace('mailto:', '')}.`;
  return (
    <>
      <h3>{t`Contact for push services`}</h3>
      {contact.fixed ? (
        <p className="setting-hint">{`${hint} ${t`Set at the relay’s start. Change it there.`}`}</p>
      ) : (
        <form className="setting" noValidate onSubmit={(event) => void save(event)}>
          <label htmlFor={id}>{t`Mail address`}</label>
          <div className="setting-row">
            <input
              id={id}
              className="field"
              type="email"
              autoComplete="email"
              aria-describedby={`${id}-hint ${id}-state`}
              value={mail}
              onChange={({ target }) => setMail(target.value)}
            />
            <button type="submit" className="ghost" disabled={mail.trim() === (contact.mail ?? '')}>{t`Save`}</button>
          </div>
          <p id={`${id}-hint`} className="setting-hint">
            {hint}
          </p>
          <p id={`${id}-state`} role="status" className="setting-hint">
            {status}
          </p>
        </form>
      )}
    </>
  );
}

const KINDS: Readonly<Record<NotificationKind, string>> = {
  approval: t`Questions and reviews`,
  review: '',
  failure: t`Failed work`,
  mention: t`Messages to you, and @human in threads`,
  answer: t`Long answers that are done`,
  night: t`The morning report`,
};
const minuteOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
const two = (n: number) => String(n).padStart(2, '0');
const timeOf = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
const NIGHT = { from: 22 * 60, to: 7 * 60 };

/**
 * The devices that receive notifications while Roost is closed, and errors of their push services.
 */
function ToldDevices({ told }: { told: Notified }) {
  const shown = useQuery(told.shown);
  return (
    <>
      <h3>{t`Devices`}</h3>
      {shown.kind === 'loading' && <p className="settings-note under-6 ink-2 text-3">{t`Loading…`}</p>}
      {shown.kind === 'failed' && (
        <p className="settings-note under-6 ink-2 text-3" role="alert">{t`The relay did not answer.`}</p>
      )}
      {shown.kind === 'ready' && (
        <ul className="above-5 stack gap-4">
          {shown.value.devices
            .filter(({ pushed, here }) => pushed && !here)
            .map(({ deviceId, name }) => (
              <li key={deviceId} className="setting-row">
                <span>{name}</span>
                <button type="button" className="ghost" onClick={() => void told.remove(deviceId)}>
                  {t`Turn off${<span className="visually-hidden">: {name}</span>}`}
                </button>
              </li>
            ))}
        </ul>
      )}
      {shown.kind === 'ready' && shown.value.devices.map((device) => <Refused key={device.deviceId} device={device} />)}
      {shown.kind === 'ready' && <PushContactForm contact={shown.value.contact} told={told} />}
    </>
  );
}

export function NotificationsSection() {
  const notified = notificationsOf(useRoost());
  const [choice, setChoice] = useState(notified.choice);
  const [status, setStatus] = useState('');
  /** The choice before the last change; null: nothing was changed. */
  const [before, setBefore] = useState<typeof choice | null>(null);
  const why = whyNoPush();
  const choose = async (next: typeof choice, undo: typeof choice | null) => {
    setChoice(next);
    setBefore(null);
    setStatus(t`Saving…`);
    const done = await notified.choose(next);
    if (done.ok) setBefore(undo);
    else setChoice(notified.choice());
    setStatus(done.ok ? t`Saved` : done.reason);
  };
  const change = (part: Partial<typeof choice>) => choose({ ...choice, ...part }, choice);
  const { kinds, quiet } = choice;
  return (
    <>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={choice.pushed}
          disabled={why !== null}
          onChange={() => void change({ pushed: !choice.pushed })}
        />
        {t`Tell me on this device, also while Roost is closed`}
      </label>
      {why !== null && <p className="setting-hint">{why}</p>}
      <h3>{t`Notify me about`}</h3>
      {NOTIFICATION_KINDS.filter((kind) => kind === chosenKind(kind)).map((kind) => (
        <label key={kind} className="tick-line">
          <input
            type="checkbox"
            checked={kinds.includes(kind)}
            onChange={() =>
              void change({ kinds: kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind] })
            }
          />
          {KINDS[kind]}
        </label>
      ))}
      <h3>{t`Quiet hours`}</h3>
      <label className="tick-line">
        <input type="checkbox" checked={quiet !== null} onChange={() => void change({ quiet: quiet ? null : NIGHT })} />
        {t`In these hours notifications wait`}
      </label>
      {quiet && (
        <div className="setting-row">
          {(['from', 'to'] as const).map((end) => (
            <label key={end}>
              {end === 'from' ? t`From` : t`Until`}{' '}
              <input
                className="field"
                type="time"
                value={timeOf(quiet[end])}
                onChange={({ target }) =>
                  target.value !== '' && void change({ quiet: { ...quiet, [end]: minuteOf(target.value) } })
                }
              />
            </label>
          ))}
        </div>
      )}
      {quiet && quiet.from === quiet.to && <p className="setting-hint">{t`Give two different times.`}</p>}
      <p role="status" className="setting-hint">
        <span>{status}</span>{' '}
        {before && (
          <button type="button" className="link-button" onClick={() => void choose(before, null)}>{t`Undo`}</button>
        )}
      </p>
      <ToldDevices told={notified} />
    </>
  );
}
