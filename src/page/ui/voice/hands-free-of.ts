/** With whom the person talks hands-free on this page, and whether the browser can do that. */
import { createStore } from 'zustand/vanilla';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { canReadAloud, recognitionOf } from './words.ts';

export const handsFree = createStore<{ readonly agentId: AgentId | null }>(() => ({ agentId: null }));
export const setHandsFree = (agentId: AgentId | null): void => handsFree.setState({ agentId });

export const canTalkHandsFree = (): boolean => recognitionOf() !== null && canReadAloud();
