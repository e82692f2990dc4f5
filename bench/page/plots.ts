import { init } from 'echarts';
import type { SeriesOption } from 'echarts';

/** A line or a set of points. */
export interface Line {
	name: string;
	points: Array<[x: number, y: number]>;
}

/** What is plotted. */
export interface PlotOptions {
	title: string;
	x: string;
	y: string;
	lines: Line[];
}

const WIDTH = 720;
const HEIGHT = 360;

/** Grey and colours of middle brightness, which can be read on white and on black. */
const TEXT = '#727a85';
const GRID = 'rgba(114, 122, 133, 0.3)';
const COLOURS = ['#2f81f7', '#e0762b', '#2da44e', '#a371f7', '#d4478f'];
const FONT = 'system-ui, -apple-system, Helvetica, Arial, sans-serif';

/** Draws lines over a scale, as SVG without a background. */
export function linePlot({ title, x, y, lines }: PlotOptions): string {
	const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
	const series = lines.map(
		({ name, points }): SeriesOption => ({
			name,
			type: 'line',
			data: points,
			showSymbol: false,
			lineStyle: { width: 2 },
			animation: false,
		}),
	);
	const axis = {
		nameTextStyle: { color: TEXT },
		axisLabel: { color: TEXT },
		axisLine: { lineStyle: { color: TEXT } },
		splitLine: { lineStyle: { color: GRID } },
	};
	const across = { ...axis, name: x, nameLocation: 'middle', nameGap: 28 } as const;
	chart.setOption({
		color: COLOURS,
		textStyle: { fontFamily: FONT },
		title: { text: title, textStyle: { color: TEXT, fontSize: 14 }, left: 8, top: 4 },
		legend: {
			top: 34,
			left: 12,
			itemGap: 32,
			textStyle: { color: TEXT },
			icon: 'roundRect',
			itemHeight: 4,
		},
		grid: { left: 64, right: 20, top: 92, bottom: 48 },
		xAxis: { ...across, type: 'value', splitLine: { show: false } },
		yAxis: {
			...axis,
			type: 'value',
			name: y,
			nameTextStyle: { color: TEXT, align: 'left' },
			min: 0,
		},
		series,
	});
	const svg = chart.renderToSVGString();
	chart.dispose();
	return svg;
}
