import type { AssistantSeed, SandboxOptions } from '../../../sandbox';

const WORKSPACE_KEY = 'workspace-key';

/** The key of an agent that was given none of its own. */
const keyOf = (made: string) => `Agent_${made}`;

/** An agent that has one name for all. */
const named = (title: string) => ({ title, description: title });

const helper = (name: string, waits = false) => ({
	name,
	title: name,
	description: `Helps with ${name}`,
	waits,
});

/** What the model of the later recordings says when it is told to fail. */
const error = '400 You exceeded your current quota (FAIL)';

/** The assistants of the recordings of 22 November: one that echoes, one with helpers, one that asks before it calls them. */
const ASSISTANTS: AssistantSeed[] = [
	{
		id: 'dda5bca8-0b5c-4802-aa50-02d615f338ae',
		name: 'echomain',
		...named('G Echo'),
		agentKey: 'Agent_echo',
		agentName: 'echomain',
		answers: 'said',
		error,
	},
	{
		id: 'ee448943-1248-4351-94f7-08f3759bd74a',
		name: 'toolmain',
		...named('G Uses tools'),
		agentKey: 'Agent_tooluser',
		agentName: 'toolmain',
		answers: 'said',
		tools: [helper('helper'), helper('other')],
		error,
	},
	{
		id: 'd511212d-43e9-433f-84c8-d8cae0214e79',
		name: 'waitsmain',
		...named('G Asks first'),
		agentKey: 'Agent_waits',
		agentName: 'waitsmain',
		answers: 'said',
		tools: [helper('subagent', true), helper('second', true)],
		error,
	},
	{
		id: '2f812b08-2bdf-41bc-802e-9f4d7bd73396',
		name: 'asker 1ccl8',
		...named('asker 1ccl8'),
		agentKey: keyOf('jouczo9qfj'),
		answers: 'said',
		tools: [{ name: 'sub', ...named('sub'), waits: true }],
	},
];

/** What the server of the recordings with times had before a sequence began. */
export const RECORDED_LATER: SandboxOptions = {
	accessToken: WORKSPACE_KEY,
	assistants: ASSISTANTS,
};
