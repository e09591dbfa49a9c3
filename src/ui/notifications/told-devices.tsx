/** Which devices are told while Roost is closed, and what keeps their push services from it. */
import { t } from '../../language/t.ts';
import type { Told } from '../../state/notifications.ts';
import { useQuery } from '../use-query.ts';
import { PushContactForm, Refused } from './push-contact.tsx';

export function ToldDevices({ told }: { told: Told }) {
  const shown = useQuery(told.shown);
  return (
    <>
      <h3>{t`Devices that are told`}</h3>
      {shown.kind === 'loading' && <p className="settings-note">{t`Asking the relay…`}</p>}
      {shown.kind === 'failed' && <p className="settings-note" role="alert">{t`The relay did not say.`}</p>}
      {shown.kind === 'ready' && shown.value.devices.every(({ pushed }) => !pushed) && (
        <p className="setting-hint">{t`None yet while Roost is closed.`}</p>
      )}
      {shown.kind === 'ready' && (
        <ul className="team-list">
          {shown.value.devices
            .filter(({ pushed, here }) => pushed && !here)
            .map(({ deviceId, name }) => (
              <li key={deviceId} className="setting-row">
                <span>{name}</span>
                <button type="button" className="ghost" onClick={() => void told.remove(deviceId)}>
                  {t`Tell it nothing any more${<span className="visually-hidden">: {name}</span>}`}
                </button>
              </li>
            ))}
        </ul>
      )}
      {shown.kind === 'ready' &&
        shown.value.devices.map((device) => (
          <Refused key={device.deviceId} contact={shown.value.contact} device={device} />
        ))}
      {shown.kind === 'ready' && <PushContactForm contact={shown.value.contact} told={told} />}
    </>
  );
}
