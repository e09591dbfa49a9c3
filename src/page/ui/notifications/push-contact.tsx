/**
 * By which address push services reach whoever runs the relay, and what to do where one has refused
 * a push.
 */
import { useId, useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import type { Notifications, PushContact } from '../../../shared/protocol/notifications.ts';
import type { Told } from '../../state/notifications.ts';

/** What to do about a push that was refused; `status` as its push service answered. */
function refusedText(status: number, { subject }: PushContact): string {
  const again = t`Then switch it off and on again on that device.`;
  if (status !== 401 && status !== 403)
    return t`Its push service refused the last push (${status}). Switch it off and on again on that device.`;
  return subject === null
    ? t`Its push service refused the last push (${status}): Safari’s takes none from a relay that names no address. Give a mail address below.`
    : t`Its push service refused the last push (${status}): it does not take ${subject} for the address of whoever runs this relay, or knows another key of it. Give a mail address that is yours. ${again}`;
}

export function Refused({ contact, device }: { contact: PushContact; device: Notifications['devices'][number] }) {
  if (device.refused === null) return null;
  return (
    <p className="settings-note" role="alert">
      {t`${device.here ? t`This device` : device.name} is not told. ${refusedText(device.refused, contact)}`}
    </p>
  );
}

export function PushContactForm({ contact, told }: { contact: PushContact; told: Told }) {
  const id = useId();
  const [mail, setMail] = useState(contact.mail ?? '');
  const [said, setSaid] = useState('');
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!event.currentTarget.checkValidity()) return setSaid(t`That is no mail address.`);
    setSaid(t`Saving…`);
    const done = await told.putContact(mail.trim() === '' ? null : mail.trim());
    setSaid(done.ok ? t`Saved` : done.reason);
  };
  const hint =
    contact.subject === null
      ? t`Push services want to know whom to write to. Safari’s takes nothing from a relay that names no address: give one of yours.`
      : t`Push services are given ${contact.subject.replace('mailto:', '')}, should they have to write to somebody.`;
  return (
    <>
      <h3>{t`Who runs this relay`}</h3>
      {contact.fixed ? (
        <p className="setting-hint">{t`${hint} The relay was started with it.`}</p>
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
            {said}
          </p>
        </form>
      )}
    </>
  );
}
