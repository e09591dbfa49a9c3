import type { SyncStatus } from '../../protocol/sync/page.ts';
import type { DeviceDialogName } from './later.tsx';
import { SecondHome } from './second-home.tsx';
import { UnderWay } from './under-way.tsx';

interface Props {
  readonly status: Extract<SyncStatus, { kind: 'alone' }>;
  readonly onOpen: (dialog: DeviceDialogName) => void;
}

/** No other device yet: what that means, and the ways out of it. */
export function Alone({ status, onOpen }: Props) {
  return (
    <>
      <p className="devices-lead">
        <strong>Who lives here lives on this device alone.</strong> If it is lost, or this browser’s data is cleared,
        nobody can open what the relay keeps sealed, unless you add a device, write down a phrase, or export a copy.
      </p>
      <UnderWay joining={status.joining} onGoOn={() => onOpen('join')} />
      <div className="devices-choices">
        <section aria-label="A second device">
          <h3>A second device</h3>
          <p>Your phone or another computer gets the same team, and what is said on one is known on all of them.</p>
          <button type="button" className="solid" onClick={() => onOpen('add')}>
            Add a device
          </button>
        </section>
        <section aria-label="A recovery phrase">
          <h3>A recovery phrase</h3>
          <p>Twenty-four words on paper that bring everyone back when every device is lost.</p>
          <button type="button" className="solid" onClick={() => onOpen('phrase')}>
            Make a recovery phrase
          </button>
        </section>
      </div>
      {status.kept && <SecondHome kept={status.kept} />}
      <section className="devices-block" aria-label="Your team lives elsewhere?">
        <h3>Your team lives elsewhere?</h3>
        <p>Then this browser can become one of its devices.</p>
        <div className="devices-ways">
          <button type="button" className="ghost" onClick={() => onOpen('join')}>
            Join from another device
          </button>
          <button type="button" className="ghost" onClick={() => onOpen('restore')}>
            I have a recovery phrase
          </button>
        </div>
      </section>
    </>
  );
}
