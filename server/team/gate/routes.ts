/** HTTP routes of the gate: settings, decisions, and how much of its limits an agent has used. */
import type { Context } from 'hono';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type {
  AgentConfig,
  AgentConfigAnswer,
  HouseholdConfig,
  HouseholdConfigAnswer,
  PulseChanges,
} from '../../../src/shared/protocol/config.ts';
import { isSameJson } from '../../../src/shared/domain/platform/json.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { wakeEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import { answerConfig } from '../../http/config-text.ts';
import type { Directory } from '../directory/index.ts';
import type { Configs } from './configs.ts';
import type { Gate } from './contract.ts';
import { agentIdIn } from '../directory/index.ts';
import { answer, applicationOf, lacks, type ApiClient, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere, expectVersion } from '../../http/version.ts';
import type { PulseSettings } from '../../../src/shared/protocol/config.ts';

/** An agent's default routine, from its settings. */
export interface DefaultRoutines {
  of(agentId: AgentId): Promise<PulseSettings>;
  /**
   * Writes an agent's whole configuration. Fields that are left out of the pulse stay unchanged.
   * Throws a problem if the configuration is invalid. `byPerson`: a person who switches the pulse
   * on also lets the agent's snapshot be stored for it. False: the configuration is no longer at
   * this `version`.
   */
  set(
    agentId: AgentId,
    said: {
      readonly config: AgentConfig;
      readonly pulse: PulseChanges;
      readonly byPerson: boolean;
      readonly version?: number | undefined;
    },
  ): Promise<boolean>;
}

export interface GateRoutesDeps {
  readonly gate: Pick<Gate, 'stats' | 'feed'>;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  /**
   * The agent's default routine as part of its settings. `set` writes the whole configuration, and
   * throws a problem if it does not fit.
   */
  readonly defaultRoutines: DefaultRoutines;
}

/**
 * Merges sent settings into stored ones. Fields that are left out stay. A list is replaced as a
 * whole.
 */
function laidOver<Config extends AgentConfig | HouseholdConfig>(own: Config, said: Config): Config {
  const { wake_guardrails: before } = own.coordination;
  const { wake_guardrails: after } = said.coordination;
  const guardrails = after === undefined ? {} : { wake_guardrails: { ...before, ...after } };
  return { ...own, ...said, coordination: { ...own.coordination, ...said.coordination, ...guardrails } };
}

/**
 * What an API client may set with the scope `limits`: how often and when an agent is woken.
 * Everything else is reserved for the person.
 */
const WAKE_LIMITS = [
  'wakes_enabled',
  'max_concurrent_pulse_sessions',
  'wake_guardrails',
  'blackouts',
  'sleep_events',
  'wake_events',
] as const satisfies readonly (keyof AgentConfig['coordination'])[];
/** The same beside `coordination`: how long runs take, and when they are given up. */
const RUN_LIMITS = [
  'pulse_container_timeout_ms',
  'pulse_busy_wait_ms',
  'pulse_max_consecutive_skips',
  'pulse_max_turns',
] as const satisfies readonly (keyof AgentConfig)[];

/** The first field that differs and is none of these. */
function changedBeyond(before: object, after: object, may: readonly string[]): string | undefined {
  const [from, to] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...from.keys(), ...to.keys()])].find(
    (key) => !may.includes(key) && !isSameJson(from.get(key), to.get(key)),
  );
}

export function createGateRoutes({ gate, configs, directory, defaultRoutines }: GateRoutesDeps): readonly Handled[] {
  /** Queued, so that no other page changes the settings between the read and the write. */
  const inTurn = createQueue();
  const agentOf = (called: string) => agentIdIn(directory, called);
  async function ofAgent(agentId: AgentId) {
    const { own, effective, version } = await configs.agent(agentId);
    const holds = { coordination: effective.coordination, ...(await defaultRoutines.of(agentId)) };
    const json: AgentConfigAnswer = { ...holds, own, effective, version };
    return { holds, json };
  }
  async function agentConfig(context: Context, agentId: AgentId): Promise<Response> {
    const { holds, json } = await ofAgent(agentId);
    return answerConfig(context, { title: 'The settings that apply to this agent.', holds, own: json.own, json });
  }
  async function ofHousehold(): Promise<HouseholdConfigAnswer> {
    const { own, effective, version } = await configs.household();
    return { ...effective, own, effective, version };
  }
  async function householdConfig(context: Context): Promise<Response> {
    const json = await ofHousehold();
    const { own, effective } = json;
    return answerConfig(context, { title: 'The settings that apply to the household.', holds: effective, own, json });
  }

  /** Throws a problem that names what an API client may not set. */
  async function refuseBeyondLimits(
    { scopes }: ApiClient,
    agentId: AgentId,
    { own, config, pulse }: { own: AgentConfig; config: AgentConfig; pulse: PulseChanges },
  ): Promise<void> {
    const inside = changedBeyond(own.coordination, config.coordination, WAKE_LIMITS);
    const beyond =
      inside === undefined ? changedBeyond(own, config, ['coordination', ...RUN_LIMITS]) : `coordination.${inside}`;
    if (beyond !== undefined) throw problem(403, 'no-scope', `Only the person sets \`${beyond}\`, on the page.`);
    if (scopes.includes('schedules')) return;
    const routine = new Map(Object.entries(await defaultRoutines.of(agentId)));
    const changed = Object.entries(pulse).find(
      ([key, value]) => key !== 'pulse_blackouts' && value !== undefined && !isSameJson(value, routine.get(key)),
    );
    if (changed) throw problem(403, 'no-scope', `${lacks(['schedules'])} \`${changed[0]}\` sets a routine.`);
  }

  return answer(wakeEndpoints, {
    wakes: async ({ before, limit, agent }) => await gate.feed({ before, limit, agentId: agent }),
    wakeStats: async ({ agentId }) => await gate.stats(await agentOf(agentId)),
    agentConfig: async ({ agentId }, context) => await agentConfig(context, await agentOf(agentId)),
    async putAgentConfig({ agentId: called, body }, context) {
      const agentId = await agentOf(called);
      await inTurn(async () => {
        const { json: storedJson } = await ofAgent(agentId);
        expectVersion(body.version, storedJson);
        const { own } = storedJson;
        const config = body.whole ? body.config : laidOver(own, body.config);
        const application = applicationOf(context);
        if (application !== null) await refuseBeyondLimits(application, agentId, { own, config, pulse: body.pulse });
        const said = { config, pulse: body.pulse, byPerson: application === null, version: body.version };
        if (!(await defaultRoutines.set(agentId, said))) throw changedElsewhere((await ofAgent(agentId)).json);
      });
      return await agentConfig(context, agentId);
    },
    householdConfig: (_, context) => householdConfig(context),
    async putHouseholdConfig({ body }, context) {
      await inTurn(async () => {
        const held = await ofHousehold();
        expectVersion(body.version, held);
        const config = body.whole ? body.config : laidOver(held.own, body.config);
        if (!(await configs.setHousehold(config, body.version))) throw changedElsewhere(await ofHousehold());
      });
      return await householdConfig(context);
    },
  });
}
