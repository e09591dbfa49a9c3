/** ACP agents on the relay's machine. Loaded with the part of the page that shows them. */
import type { AddProgram, Programs } from '../../shared/protocol/programs.ts';
import type { DeferredClient } from '../../shared/relay-client/deferred-client.ts';
import type { RelayResult } from '../../shared/relay-client/result.ts';
import { type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { type Query, relayQuery } from './query.ts';

type ProgramCalls = Pick<DeferredClient, 'addProgram' | 'tryProgram' | 'removeProgram'>;

interface AgentPrograms {
  readonly list: Query<Programs>;
  add(program: AddProgram): Promise<Done>;
  /** Makes one of these calls, then shows the resulting state. */
  change<Value>(call: (calls: ProgramCalls) => Promise<RelayResult<Value>>): Promise<Done>;
}

function createPrograms({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): AgentPrograms {
  const list = relayQuery<Programs>({ callRelay, changes, device }, ['programs'], (client) => client.programs());
  const change: AgentPrograms['change'] = async (call) => {
    const result = await callRelay(call);
    await list.again();
    return doneOf(result);
  };
  return { list, change, add: (body) => change((client) => client.addProgram({ body })) };
}

export const programsOf = onePerPage(createPrograms);
