import { useState } from 'react';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { copiesOf, type ImportState } from '../../state/copies.ts';
import { useRoost } from '../context.tsx';
import { plural } from '../text/sizes.ts';
import { AdoptFlow } from './adopt-flow.tsx';
import { DropZone } from '../parts/drop-zone.tsx';
import { PassphraseForm } from './passphrase.tsx';
import { Preview } from './preview.tsx';
import { Work } from './work.tsx';

/** Endings of what holds one agent; everything else is taken for a whole copy. */
const ONE_AGENT = /\.(zip|md|markdown|txt)$/i;

function Done({ state }: { state: Extract<ImportState, { kind: 'done' }> }) {
  const { documents, written, leftOut } = state.imported;
  const same = documents - written;
  return (
    <div className="copies-done">
      <p>
        <strong>{written === 0 ? t`Nothing was new.` : t`Imported.`}</strong>{' '}
        <span>
          {written === 0
            ? t`Everything in it was here already. Importing a copy twice is harmless.`
            : plural(written, 'entry came.', 'entries came.')}
        </span>
        {written > 0 && same > 0 && <span>{` ${plural(same, 'was here already.', 'were here already.')}`}</span>}
        {leftOut > 0 && <span>{` ${plural(leftOut, 'entry was left out.', 'entries were left out.')}`}</span>}
      </p>
    </div>
  );
}

/**
 * A file comes in: a whole copy, or one agent. Chosen or dropped, looked at, and only then taken.
 */
export function ImportCopy({ onlyWhole = false }: { onlyWhole?: boolean }) {
  const copies = copiesOf(useRoost());
  const state = useStore(copies.store, ({ importing }) => importing);
  const [agentFile, setAgentFile] = useState<File | null>(null);
  const again = () => copies.reset('importing');
  const choose = (file: File) => {
    if (!onlyWhole && ONE_AGENT.test(file.name)) {
      again();
      setAgentFile(file);
    } else void copies.read(file);
  };
  if (agentFile)
    return (
      <AdoptFlow
        key={`${agentFile.name}:${agentFile.lastModified}:${agentFile.size}`}
        file={agentFile}
        position={null}
        onLeave={() => setAgentFile(null)}
      />
    );
  return (
    <>
      {(state.kind === 'idle' || state.kind === 'failed' || state.kind === 'done') && (
        <DropZone
          label={t`Choose a file`}
          accept={onlyWhole ? '.gz,.age,.jsonl' : '.gz,.age,.jsonl,.zip,.md,.markdown,.txt'}
          onFile={choose}
        >
          {onlyWhole
            ? t`or drop it here: a copy that was exported (.jsonl.gz, .age)`
            : t`or drop it here: a whole copy (.jsonl.gz, .age), one agent (.zip), or a soul that somebody wrote (SOUL.md)`}
        </DropZone>
      )}
      {state.kind === 'reading' && (
        <Work
          label={t`Reading ${state.file.name}`}
          progress={state.progress}
          onCancel={() => copies.cancel('importing')}
        />
      )}
      {state.kind === 'passphrase' && (
        <PassphraseForm
          key={String(state.wrong)}
          fileName={state.file.name}
          wrong={state.wrong}
          onTry={(passphrase) => void copies.read(state.file, passphrase)}
          onCancel={again}
        />
      )}
      {state.kind === 'preview' && (
        <Preview
          fileName={state.file.name}
          preview={state.opened.preview}
          onTake={(choice) => void copies.take(choice)}
          onCancel={again}
        />
      )}
      {state.kind === 'importing' && (
        <Work label={t`Taking it in`} progress={state.progress} onCancel={() => copies.cancel('importing')} />
      )}
      <div role="status" className="copies-said">
        {state.kind === 'done' && <Done state={state} />}
        {state.kind === 'failed' && (
          <p className="wrong-note">
            <span>
              <strong>
                <span dir="auto">{state.file.name}</span> {state.partly ? t`was not taken whole.` : t`was not taken.`}
              </strong>{' '}
              {state.reason}{' '}
              {state.partly
                ? t`What came before stays. Import the file again to go on: nothing comes twice.`
                : t`Nothing was changed here.`}
            </span>
          </p>
        )}
      </div>
    </>
  );
}
