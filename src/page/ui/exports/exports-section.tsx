/** Settings section: exports the household into one file, and imports such a copy. */
import { errorText } from '../../state/ports.ts';
import { useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { exportsOf, householdFileName } from '../../state/exports.ts';
import { useRoost } from '../context.tsx';
import { asBeginning, bytes, plural } from '../text/sizes.ts';
import { ImportCopy, type NewPassphrase, NewPassphraseFields, passphraseFault } from './import-file.tsx';
import { chooseSink } from './sink.ts';
import { LimitsAsYaml } from '../limits/yaml.tsx';
import { PATHS } from '../routes.ts';
import { Work } from './adopt-flow.tsx';
import './exports.css';

const EMPTY: NewPassphrase = { first: '', second: '' };

function Begin() {
  const roost = useRoost();
  const { device, notices } = roost;
  const actions = exportsOf(roost);
  const [sealed, setSealed] = useState(true);
  const [passphrase, setPassphrase] = useState<NewPassphrase>(EMPTY);
  const [tried, setTried] = useState(false);
  const begin = async () => {
    setTried(true);
    if (sealed && passphraseFault(passphrase) !== null) return;
    try {
      const sink = await chooseSink(householdFileName({ exportedAt: device.now(), sealed }));
      if (sink) await actions.exportAll({ sink, passphrase: sealed ? passphrase.first : null });
    } catch (error) {
      // The chosen place cannot be written.
      notices.error(t`Could not save this. ${errorText(error)}`);
    }
  };
  return (
    <form
      className="stack at-start narrow gap-5"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void begin();
      }}
    >
      <label className="tick-line">
        <input type="checkbox" checked={sealed} onChange={(event) => setSealed(event.target.checked)} />
        {asBeginning(t`with a passphrase`)}
      </label>
      {sealed ? (
        <NewPassphraseFields value={passphrase} onChange={setPassphrase} tried={tried} />
      ) : (
        <p className="setting-hint">{t`Anyone with the file can read every word in it.`}</p>
      )}
      <button type="submit" className="solid">{t`Export everything`}</button>
    </form>
  );
}

/** Exports everything into one file: the agents, every message, and the household's settings. */
function ExportAll() {
  const actions = exportsOf(useRoost());
  const state = useStore(actions.store, ({ exporting }) => exporting);
  return (
    <>
      <p>{t`One file with your agents, every message and the settings. The agents’ files on the relay are not in it.`}</p>
      {(state.kind === 'idle' || state.kind === 'failed') && <Begin />}
      {state.kind === 'running' && (
        <Work label={t`Working…`} progress={state.progress} onCancel={() => actions.cancel('exporting')} />
      )}
      <div role="status" className="exports-said">
        {state.kind === 'done' && (
          <div className="done-box pad-wide stack at-start gap-5">
            <p>
              <strong>{t`Exported.`}</strong>{' '}
              {`${plural(state.exported.documents, 'entry', 'entries')}, ${bytes(state.exported.bytes)}, `}
              <b dir="auto">{state.fileName}</b>
            </p>
            {state.unnoted !== null && <p>{t`The date of this export was not saved: ${state.unnoted}`}</p>}
            <button
              type="button"
              className="ghost"
              onClick={() => actions.reset('exporting')}
            >{t`Export everything`}</button>
          </div>
        )}
        {state.kind === 'failed' && <p className="wrong-note">{state.reason}</p>}
      </div>
    </>
  );
}

/** Exports and imports copies. */
export function ExportsSection() {
  return (
    <div className="exports gap-7 stack narrow ink-2 text-3">
      <section className="stack gap-5 narrow ruled" aria-label={t`Export everything`}>
        <h3 className="ink">{t`Export everything`}</h3>
        <ExportAll />
      </section>
      <section className="stack gap-5 narrow ruled" aria-label={t`Import`}>
        <h3 className="ink">{t`Import`}</h3>
        <ImportCopy />
      </section>
      <section className="stack gap-5 narrow ruled" aria-label={t`Move in from another product`}>
        <h3 className="ink">{t`Move in from another product`}</h3>
        <p>{t`Conversations of ChatGPT and others`}</p>
        <Link href={PATHS.moveIn} className="ghost">{t`Move in`}</Link>
      </section>
      <section className="stack gap-5 narrow ruled" aria-label={t`Limits as YAML`}>
        <h3 className="ink">{t`Limits as YAML`}</h3>
        <LimitsAsYaml />
      </section>
    </div>
  );
}
