import { useId } from 'react';
import { Link } from 'wouter';
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS, SCRIPTS_OFF } from '../../../shared/protocol/schedules.ts';
import { filesOf } from '../../state/files.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { CopyableText } from '../devices/copy-text.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../use-query.ts';
import type { Teammate } from '../use-teammates.ts';
import { WhenFields } from './editor-fields.tsx';
import { ChoiceField, ContextField, EditorEnd, Labelled, WhoFields } from './editor-parts.tsx';
import {
  FIELDS_OF_SCRIPT,
  SCRIPT_STANDS_AT,
  scriptDraftOf,
  scriptOf,
  withoutText,
  wrongInScript,
  type Script,
  type ScriptDraft,
} from './script-draft.ts';
import { useSaving, type Kind } from './use-saving.ts';

interface Props {
  /** null: a new one. */
  readonly scheduleId: ScheduleId | null;
  readonly before: Script | null;
  /** Minutes, that an interval was given. */
  readonly offset: number | null;
  readonly draft: ScriptDraft;
  readonly team: readonly Teammate[];
  /** What stands there, where it was only closed; null: it is saved, or to be forgotten. */
  readonly onClose: (kept: ScriptDraft | null) => void;
}

const SCRIPT: Kind<ScriptDraft, Script> = {
  scheduleOf: scriptOf,
  draftOf: scriptDraftOf,
  wrongIn: wrongInScript,
  of: (schedule) => (schedule.kind === 'script' ? schedule : null),
  fields: FIELDS_OF_SCRIPT,
  standsAt: SCRIPT_STANDS_AT,
  asSaved: withoutText,
};

/** What lies in an agent's folder, to be chosen from while its path is typed. */
function FileNames({ id, agentId }: { id: string; agentId: AgentId }) {
  const folder = useQuery(filesOf(useRoost()).folder(agentId, ''));
  const names = folder.kind === 'ready' ? folder.value.entries.filter(({ kind }) => kind === 'file') : [];
  return (
    <datalist id={id}>
      {names.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/**
 * Writes a script that is run without a model. It closes once the relay has it; what the relay
 * refuses stays in the fields.
 */
export function ScriptEditor({ scheduleId, before, offset, draft: first, team, onClose }: Props) {
  const { draft, set, wrong, refused, busy, save } = useSaving(SCRIPT, scheduleId, before, first, () => onClose(null));
  const namesId = useId();
  const whose = team.find(({ agentId }) => agentId === draft.agentId)?.name ?? t`the agent`;
  const { scriptMs } = SCHEDULE_BOUNDS;
  const list = useQuery(schedulesOf(useRoost()).list);
  const mayOwn = list.kind === 'ready' && list.value.ownHosts === true;
  return (
    <Dialog
      title={scheduleId === null ? t`A new script` : t`Change this script`}
      shape="wide"
      onClose={() => onClose(draft)}
    >
      <form className="editor" onSubmit={(event) => void save(event)} noValidate>
        <p className="setting-hint">{t`Your relay runs it with bash, in the agent’s folder, and asks no model. It is well where it ends with exit status 0; 75 means that it is done for good, and not run again.`}</p>
        <WhoFields draft={draft} set={set} wrong={wrong} team={team} example={t`Is the site up`} />
        <Labelled
          label={t`File`}
          hint={
            <>{t`Its path in ${<Link href={PATHS.files(draft.agentId)}>{t`the folder of ${whose}`}</Link>}. Its text is accepted as it is when you save this. Once the file says something else, you are asked about that, and until your yes the accepted text runs.`}</>
          }
          wrong={wrong['script']}
        >
          {(given) => (
            <input
              {...given}
              className="field"
              list={namesId}
              autoComplete="off"
              spellCheck={false}
              maxLength={SCHEDULE_BOUNDS.path}
              placeholder="checks/site.sh"
              value={draft.script}
              onChange={({ target }) => set({ script: target.value })}
            />
          )}
        </Labelled>
        <FileNames id={namesId} agentId={draft.agentId} />
        <WhenFields draft={draft} set={set} wrong={wrong} before={before?.timing ?? null} offset={offset} />
        <div className="editor-pair">
          <ChoiceField
            label={t`Where it fails`}
            wrong={wrong['on_failure']}
            choices={ON_FAILURE}
            value={draft.on_failure}
            onChange={(on_failure) => set({ on_failure })}
          />
          <Labelled
            label={t`Seconds it may take`}
            hint={t`After that it is ended, and has failed.`}
            wrong={wrong['most']}
          >
            {(given) => (
              <input
                {...given}
                type="number"
                inputMode="numeric"
                className="field"
                min={scriptMs.min / 1_000}
                max={scriptMs.max / 1_000}
                value={draft.most}
                onChange={({ target }) => set({ most: target.value })}
              />
            )}
          </Labelled>
          <ChoiceField
            label={t`Where it still runs when it is due again`}
            wrong={wrong['overlap']}
            choices={OVERLAP}
            value={draft.overlap}
            onChange={(overlap) => set({ overlap })}
          />
          <ContextField draft={draft} set={set} wrong={wrong} hint={t`When it is woken because this failed.`} />
        </div>
        <Labelled
          label={t`Hosts that it reaches, one in a line`}
          hint={t`In the sandbox it reaches these alone, by curl and whatever else knows https_proxy. Empty: no network. Without a port: 80 and 443.`}
          wrong={wrong['hosts']}
        >
          {(given) => (
            <textarea
              {...given}
              {...PLAIN}
              placeholder="example.org"
              value={draft.hosts}
              onChange={({ target }) => set({ hosts: target.value })}
            />
          )}
        </Labelled>
        {(mayOwn || draft.own_hosts !== '') && (
          <Labelled
            label={t`Hosts of the relay’s own machine and networks, one in a line`}
            hint={t`None is reached that you do not name here.`}
            wrong={wrong['own_hosts']}
          >
            {(given) => (
              <textarea
                {...given}
                {...PLAIN}
                placeholder="localhost:8080"
                value={draft.own_hosts}
                onChange={({ target }) => set({ own_hosts: target.value })}
              />
            )}
          </Labelled>
        )}
        <EditorEnd refused={refused} busy={busy} onDiscard={() => onClose(null)} />
      </form>
    </Dialog>
  );
}

const PLAIN = { className: 'field', rows: 2, autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

const ON_FAILURE: readonly (readonly [Script['on_failure'], string])[] = [
  ['wake_agent', t`Wake the agent, and tell it what it wrote`],
  ['ignore', t`Only write it down in the history`],
];
const OVERLAP: readonly (readonly [Script['overlap'], string])[] = [
  ['skip', t`Skip that time`],
  ['wait', t`Run it after this one`],
];

/**
 * What scripts are, what turning them on means, and how. `why`: the relay runs none, in its own
 * words.
 */
export function ScriptsOff({ why, onClose }: { why: string | undefined; onClose: () => void }) {
  const startsSo = why === undefined || why === SCRIPTS_OFF;
  return (
    <Dialog title={t`Scripts are off`} onClose={onClose}>
      <div className="scripts-off">
        <p>{t`A script is a file in an agent’s folder with commands for the relay’s machine: to look every ten minutes whether a site is up, say. It asks no model, so it costs nothing, and its agent is woken only where it fails.`}</p>
        {startsSo ? (
          <>
            <p>{t`There is no sandbox on your relay’s machine. Install bubblewrap there (Debian and Ubuntu: apt install bubblewrap) and start the relay again: then scripts run shut into their agent’s folder, and only with your yes.`}</p>
            <p>{t`Without a sandbox they run with all that the user may do who started the relay, and programs that you connect as MCP servers may, too. To allow that, stop the relay with Ctrl+C and start it again with:`}</p>
            <CopyableText text="npm start -- --scripts" what={t`How to start it`} />
          </>
        ) : (
          <p>{retold(why)}</p>
        )}
        <div className="dialog-ways">
          <button type="button" className="solid" onClick={onClose}>{t`I see`}</button>
        </div>
      </div>
    </Dialog>
  );
}
