/** Settings section: exports the household into one file, and imports such a copy. */
import { errorText } from '../../state/ports.ts';
import { useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { exportsOf, householdFileName } from '../../state/exports.ts';
import { useRoost } from '../context.tsx';
import { bytes, plural } from '../text/sizes.ts';
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
      notices.error(t`The file could not be made: ${errorText(error)}. Choose another place.`);
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
        {t`Under a passphrase`}
      </label>
      {sealed ? (
        <NewPassphraseFields value={passphrase} onChange={setPassphrase} tried={tried} />
      ) : (
        <p className="setting-hint">{t`Without one, whoever gets the file can read every word in it.`}</p>
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
      <p>{t`One file with everything: who your agents are, their souls, every word that was said, and these settings. Keep it somewhere else than on this device.`}</p>
      <p>{t`These files are on the relay’s machine only: not sealed, and not in your exports.`}</p>
      {(state.kind === 'idle' || state.kind === 'failed') && <Begin />}
      {state.kind === 'running' && (
        <Work label={t`Writing the file`} progress={state.progress} onCancel={() => actions.cancel('exporting')} />
      )}
      <div role="status" className="exports-said">
        {state.kind === 'done' && (
          <div className="done-box pad-wide stack at-start gap-5">
            <p>
              {t`${<strong>{t`Exported.`}</strong>} ${plural(state.exported.documents, 'entry', 'entries')}, ${bytes(state.exported.bytes)}, in ${<b dir="auto">{state.fileName}</b>}`}
              {state.sealed ? t`, under your passphrase` : t`, readable by anybody who has it`}.
            </p>
            {state.unnoted !== null && (
              <p>{t`The file is whole. Only its date could not be kept here: ${state.unnoted}`}</p>
            )}
            <button
              type="button"
              className="ghost"
              onClick={() => actions.reset('exporting')}
            >{t`Export again`}</button>
          </div>
        )}
        {state.kind === 'failed' && (
          <p className="wrong-note">
            <span>
              {t`${<strong>{t`Could not do this.`}</strong>} ${state.reason} No file was left behind; what is here is as it was.`}
            </span>
          </p>
        )}
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
      <section className="stack gap-5 narrow ruled" aria-label={t`Bring something in`}>
        <h3 className="ink">{t`Bring something in`}</h3>
        <p>{t`You see what is in a file before anything is taken. Bringing in the same file twice is harmless.`}</p>
        <ImportCopy />
      </section>
      <section className="stack gap-5 narrow ruled" aria-label={t`Move in from another product`}>
        <h3 className="ink">{t`Move in from another product`}</h3>
        <p>{t`Conversations with ChatGPT and others become part of an agent’s past, with their words and times as they were.`}</p>
        <Link href={PATHS.moveIn} className="ghost">{t`Move in`}</Link>
      </section>
      <section className="stack gap-5 narrow ruled" aria-label={t`One agent alone`}>
        <h3 className="ink">{t`One agent alone`}</h3>
        <p>{t`An agent’s own page exports it as a zip of plain files: its soul as text, its identity, and every conversation. Such a zip, or a SOUL.md that you wrote yourself, can be adopted into an empty seat: here, or from the seat’s own menu.`}</p>
      </section>
      <section className="stack gap-5 narrow ruled" aria-label={t`Limits as YAML`}>
        <h3 className="ink">{t`Limits as YAML`}</h3>
        <LimitsAsYaml />
      </section>
    </div>
  );
}
