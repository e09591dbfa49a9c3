/** A script as it stands in the fields of its editor: texts, until the relay has taken it. Pure. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS, type ScheduleOf } from '../../../shared/protocol/schedules.ts';
import { hostsIn, wrongInHosts } from '../text/hosts.ts';
import { emptyTiming, timingDraftOf, timingOf, wrongInTiming, type TimingDraft, type Wrong } from './timing-draft.ts';

export type Script = ScheduleOf<'script'>;

export interface ScriptDraft extends TimingDraft {
  readonly agentId: AgentId;
  readonly name: string;
  /** Path in its agent's folder. */
  readonly script: string;
  readonly on_failure: Script['on_failure'];
  readonly overlap: Script['overlap'];
  /** One a line. */
  readonly hosts: string;
  readonly own_hosts: string;
  /** Seconds that it may take. */
  readonly most: string;
  readonly context: Script['context'];
}

const SECOND = 1_000;

export const emptyScript = (agentId: AgentId): ScriptDraft => ({
  agentId,
  name: '',
  script: '',
  ...emptyTiming,
  timing: 'every',
  minutes: '10',
  on_failure: 'wake_agent',
  overlap: 'wait',
  hosts: '',
  own_hosts: '',
  most: String(SCHEDULE_BOUNDS.scriptMs.otherwise / SECOND),
  context: 'none',
});

export const scriptDraftOf = (script: Script): ScriptDraft => ({
  ...timingDraftOf(script.timing),
  agentId: script.agentId,
  name: script.name,
  script: script.script,
  on_failure: script.on_failure,
  overlap: script.overlap,
  hosts: (script.hosts ?? []).join('\n'),
  own_hosts: (script.own_hosts ?? []).join('\n'),
  most: String(script.timeoutMs / SECOND),
  context: script.context,
});

export const SCRIPT_STANDS_AT: Wrong = { timeoutMs: 'most', hosts: 'hosts', own_hosts: 'own_hosts' };
/** Its fields that the editor writes. */
export const FIELDS_OF_SCRIPT = [
  'agentId',
  'name',
  'script',
  'timing',
  'on_failure',
  'overlap',
  'hosts',
  'own_hosts',
  'timeoutMs',
  'context',
] as const satisfies readonly (keyof Script)[];

/** What is wrong before anybody is asked. */
export function wrongInScript(draft: ScriptDraft): Wrong {
  const wrong = wrongInTiming(draft);
  const { min, max } = SCHEDULE_BOUNDS.scriptMs;
  const most = Number(draft.most) * SECOND;
  if (draft.name.trim() === '') wrong['name'] = t`Give it a name.`;
  if (draft.script.trim() === '') wrong['script'] = t`Say which file it is.`;
  for (const field of ['hosts', 'own_hosts'] as const) {
    const odd = wrongInHosts(hostsIn(draft[field]));
    if (odd !== null) wrong[field] = odd;
  }
  if (!(most >= min && most <= max)) wrong['most'] = t`From ${min / SECOND} to ${max / SECOND} seconds.`;
  return wrong;
}

/** The whole of it as the relay takes it. Null while `wrongInScript` finds something. */
export function scriptOf(draft: ScriptDraft, before: Script | null): Script | null {
  const timing = timingOf(draft, before?.timing ?? null);
  if (!timing || Object.keys(wrongInScript(draft)).length > 0) return null;
  const rest = { ...before };
  delete rest.hosts;
  delete rest.own_hosts;
  const [hosts, ownHosts] = [hostsIn(draft.hosts), hostsIn(draft.own_hosts)];
  return {
    enabled: true,
    ...rest,
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(ownHosts.length > 0 ? { own_hosts: ownHosts } : {}),
    kind: 'script',
    agentId: draft.agentId,
    name: draft.name.trim(),
    script: draft.script.trim(),
    timing,
    on_failure: draft.on_failure,
    overlap: draft.overlap,
    timeoutMs: Math.round(Number(draft.most) * SECOND),
    context: draft.context,
  };
}

/** Without the text that was accepted before: what its file says now is. */
export function withoutText(script: Script): Script {
  const rest = { ...script };
  delete rest.sha256;
  return rest;
}
