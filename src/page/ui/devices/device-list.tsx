import { useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import type { DeviceView } from '../../../shared/protocol/sync/page.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { EditIcon } from '../parts/icons.tsx';
import { cameText, reachText } from '../text/devices.ts';
import { plural } from '../text/sizes.ts';
import { useNow } from '../use-now.ts';
import { NameField } from './name-field.tsx';
import { Wrong } from './wrong.tsx';

/** Who goes with it: whoever it let in, and who does not say by whom they came. */
function Along({
  devices,
  keep,
  onKeep,
}: {
  devices: readonly DeviceView[];
  keep: ReadonlySet<string>;
  onKeep: (keep: ReadonlySet<string>) => void;
}) {
  const now = useNow();
  return (
    <fieldset className="devices-along">
      <legend>{t`These go with it`}</legend>
      <p className="setting-hint">{t`It let them in, or nobody says who did. Tick what you know and want to keep.`}</p>
      <ul>
        {devices.map((device) => (
          <li key={device.deviceId}>
            <label className="tick-line">
              <input
                type="checkbox"
                checked={keep.has(device.deviceId)}
                onChange={({ target }) =>
                  onKeep(
                    new Set(
                      target.checked ? [...keep, device.deviceId] : [...keep].filter((id) => id !== device.deviceId),
                    ),
                  )
                }
              />
              <span dir="auto">{t`Keep ${device.name}: ${cameText(device, now)}`}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

function RemoveDialog({
  device,
  along,
  onClose,
}: {
  device: DeviceView;
  along: readonly DeviceView[];
  onClose: () => void;
}) {
  const state = useRoost();
  const [keep, setKeep] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const remove = async () => {
    setBusy(true);
    setFailed(null);
    const removed = await deviceActionsOf(state).remove(device.deviceId, [...keep]);
    setBusy(false);
    if (!removed.ok) return setFailed(removed.reason);
    onClose();
    const others = removed.value.length - 1;
    state.notices.info(
      others === 0
        ? t`${device.name} is no longer one of your devices.`
        : t`${device.name} and ${plural(others, 'other')} are no longer your devices.`,
    );
  };
  return (
    <Dialog title={t`Remove ${device.name}?`} onClose={onClose}>
      <div className="devices">
        <ul className="devices-points">
          <li>{t`The relay shuts it out at once: its connection is cut, and it is signed out.`}</li>
          <li>{t`The household key is renewed. It reads nothing that is written from now on.`}</li>
          <li>
            {t`${<b>{t`What it has already stays there.`}</b>} Nobody can take that back from here. If it was stolen or sold, clear the browser’s data on it while you can.`}
          </li>
        </ul>
        {along.length > 0 && <Along devices={along} keep={keep} onKeep={setKeep} />}
        {failed !== null && <Wrong title={t`It was not removed.`} reason={t`${failed} Nothing has changed.`} />}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Keep it`}</button>
          <button type="button" className="danger-button" disabled={busy} onClick={() => void remove()}>
            {busy ? t`Removing…` : t`Remove it`}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function RenameDialog({ device, onClose }: { device: DeviceView; onClose: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const [name, setName] = useState(device.name);
  const [failed, setFailed] = useState<string | null>(null);
  const rename = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    const renamed = await actions.rename(name.trim());
    if (renamed.ok) onClose();
    else setFailed(renamed.reason);
  };
  return (
    <Dialog title={t`Rename this device`} onClose={onClose}>
      <form className="devices" onSubmit={(event) => void rename(event)} noValidate>
        <NameField value={name} onChange={setName} hint={t`Your other devices show it by this name.`} />
        {failed !== null && <Wrong title={t`It could not be renamed.`} reason={failed} />}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={name.trim() === ''}>{t`Rename`}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Row({
  device,
  now,
  onRemove,
  onRename,
}: {
  device: DeviceView;
  now: number;
  onRemove: () => void;
  onRename: () => void;
}) {
  const { name, self, online } = device;
  return (
    <li className="device" data-online={online || self}>
      <i className="device-dot" aria-hidden="true" />
      <div className="device-who">
        <b dir="auto">{name}</b>
        {self && <span className="device-tag">{t`this device`}</span>}
        <small dir="auto">{reachText(device, now)}</small>
      </div>
      {self ? (
        <button
          type="button"
          className="icon-button"
          aria-label={t`Rename this device`}
          title={t`Rename`}
          onClick={onRename}
        >
          <EditIcon />
        </button>
      ) : (
        <button
          type="button"
          className="ghost ghost-danger"
          aria-label={t`Remove ${name}`}
          onClick={onRemove}
        >{t`Remove`}</button>
      )}
    </li>
  );
}

/** This device first, then those that are there, then the rest by when they were last seen. */
const inOrder = (devices: readonly DeviceView[]) =>
  [...devices].sort(
    (a, b) =>
      Number(b.self) - Number(a.self) ||
      Number(b.online) - Number(a.online) ||
      (b.lastSeen ?? 0) - (a.lastSeen ?? 0) ||
      a.name.localeCompare(b.name),
  );

export function DeviceList({ devices }: { devices: readonly DeviceView[] }) {
  const now = useNow();
  const [removing, setRemoving] = useState<DeviceView | null>(null);
  const [renaming, setRenaming] = useState<DeviceView | null>(null);
  return (
    <>
      <ul className="device-list">
        {inOrder(devices).map((device) => (
          <Row
            key={device.deviceId}
            device={device}
            now={now}
            onRemove={() => setRemoving(device)}
            onRename={() => setRenaming(device)}
          />
        ))}
      </ul>
      {removing && (
        <RemoveDialog
          device={removing}
          along={devices.filter(({ deviceId }) => removing.along.includes(deviceId))}
          onClose={() => setRemoving(null)}
        />
      )}
      {renaming && <RenameDialog device={renaming} onClose={() => setRenaming(null)} />}
    </>
  );
}
