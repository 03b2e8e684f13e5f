"use strict";
// Predicts one row by draws that the page holds, as Python does by the same draws.
const Predictor = (() => {
  const TYPES = { f4: Float32Array, f8: Float64Array, i2: Int16Array, i4: Int32Array, u4: Uint32Array, u1: Uint8Array };

  function unpack(packed) {
    const [[kind, text]] = Object.entries(packed);
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new TYPES[kind](bytes.buffer);
  }

  function unpackAll(record) {
    return Object.fromEntries(Object.entries(record).map(([name, value]) =>
      [name, value && typeof value === "object" && !Array.isArray(value) ? unpack(value) : value]));
  }

  function softmax(scores) {
    const most = Math.max(...scores);
    const shares = scores.map((score) => Math.exp(score - most));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  }

  // The error function's complement by W. J. Cody's way of continued fractions far out and a series near 0: to 1e-15.
  function normalBelow(x) {
    const z = Math.abs(x);
    if (z > 38) return x > 0 ? 1 : 0;
    const density = Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
    let beyond;
    if (z < 5) {
      let term = z, sum = z;
      for (let k = 1; Math.abs(term) > 1e-18 * Math.abs(sum) && k < 500; ++k) sum += term *= z * z / (2 * k + 1);
      beyond = 0.5 - density * sum;
    } else {
      let fraction = z;
      for (let k = 60; k > 0; --k) fraction = z + k / fraction;
      beyond = density / fraction;
    }
    return x > 0 ? 1 - beyond : beyond;
  }

  // P(k) = ∫ φ(u − f_k) Π_{j≠k} Φ(u − f_j) du by the trapezoidal rule.
  function largest(means) {
    const top = Math.max(...means), shares = means.map(() => 0), step = 0.1875;
    for (let u = top - 8; u <= top + 8; u += step) {
      const below = means.map((mean) => normalBelow(u - mean));
      means.forEach((mean, k) => {
        const others = below.reduce((product, one, j) => (j === k ? product : product * one), 1);
        shares[k] += Math.exp(-((u - mean) ** 2) / 2) * others;
      });
    }
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  }

  const LINKS = {
    identity: (sums) => sums,
    probit: (sums) => [normalBelow(-sums[0]), normalBelow(sums[0])],
    largest,
  };

  function trees(record) {
    const m = unpackAll(record.model), link = LINKS[record.link], { width, sums, centre } = m;
    const cuts = (m.cuts || []).map(unpack);
    const isSoft = Boolean(m.bandwidth);
    // In preorder the right child of a split follows all that is below the left one.
    const right = new Int32Array(m.node.length), leaf = new Int32Array(m.node.length), split = new Int32Array(m.node.length);
    for (let t = 0; t < m.begin.length; ++t) {
      const end = t + 1 < m.begin.length ? m.begin[t + 1] : m.node.length, open = [];
      let leaves = 0, splits = 0;
      for (let i = m.begin[t]; i < end; ++i) {
        if (m.node[i] >= 0) { split[i] = splits++; open.push(i); continue; }
        leaf[i] = leaves++;
        if (open.length) right[open.pop()] = i + 1;
      }
    }
    const leavesOf = m.begin.map((begin, t) => ((t + 1 < m.begin.length ? m.begin[t + 1] : m.node.length) - begin + 1) / 2);
    const perDraw = m.tree.length / record.draws, perSum = perDraw / sums;

    function shareRight(q, x, bandwidth) {
      const column = record.inputs[m.feature[q]];
      if (column.kind === "categorical") {
        const level = x === null ? column.levels.length : x;
        return (level < 32 ? m.low[q] >>> level : m.high[q] >>> (level - 32)) & 1 ? 0 : 1;
      }
      if (x === null) return m.missing[q] ? 0 : 1;
      if (!bandwidth) return x <= m.threshold[q] ? 0 : 1;
      const of = cuts[m.feature[q]];
      let code = 0;
      while (code < of.length && of[code] < x) ++code;
      const far = (code - (m.cut[q] + 1) + 0.5) / ((of.length + 1) * bandwidth);
      return 1 / (1 + Math.exp(-Math.max(-80, Math.min(80, far))));
    }

    return (row) => {
      const found = [];
      let value = 0, band = 0;
      for (let d = 0; d < record.draws; ++d) {
        const total = centre.length ? [...centre] : new Array(width).fill(0);
        for (let t = 0; t < perDraw; ++t) {
          const stored = m.tree[d * perDraw + t], first = m.begin[stored], at = Math.floor(t / perSum) * width;
          const add = (node, share) => {
            while (m.node[node] >= 0) {
              const q = m.node[node], r = shareRight(q, row[m.feature[q]], isSoft ? m.bandwidth[band + split[node]] : 0);
              if (r > 0 && r < 1) { add(right[node], share * r); share *= 1 - r; ++node; } else node = r ? right[node] : node + 1;
            }
            for (let k = 0; k < width; ++k) total[at + k] += share * m.value[value + leaf[node] * width + k];
          };
          add(first, 1);
          value += leavesOf[stored] * width;
          band += leavesOf[stored] - 1;
        }
        found.push(link(total));
      }
      return found;
    };
  }

  // A row of the matrix of a linear model: indicators of labels and of missing values, means for what is not known.
  function matrixOf(record) {
    const centres = unpack(record.matrix.centres), pairs = record.matrix.pairs;
    return (row) => {
      const values = [], spans = [];
      record.inputs.forEach((column, j) => {
        const begin = values.length, x = row[j];
        if (column.kind === "categorical") {
          for (let level = 1; level < column.levels.length; ++level)
            values.push(x === null && !column.missing ? NaN : Number(x === level));
        } else values.push(x === null ? NaN : x);
        if (column.missing) values.push(Number(x === null));
        spans.push([begin, values.length]);
      });
      values.forEach((x, j) => { if (Number.isNaN(x)) values[j] = centres[j]; });
      for (const [first, second] of pairs)
        for (let a = spans[first][0]; a < spans[first][1]; ++a)
          for (let b = spans[second][0]; b < spans[second][1]; ++b)
            values.push((values[a] - centres[a]) * (values[b] - centres[b]));
      return values;
    };
  }

  function linear(record) {
    const m = unpackAll(record.model), matrix = matrixOf(record);
    return (row) => {
      const values = matrix(row), size = m.used.length, found = [];
      for (let d = 0; d < record.draws; ++d) {
        let sum = m.level[d];
        for (let p = 0; p < size; ++p) sum += m.coefficient[d * size + p] * (values[m.used[p]] - m.centre[p]);
        found.push([sum]);
      }
      return found;
    };
  }

  function soft(record) {
    const m = unpackAll(record.model), matrix = matrixOf(record);
    const leaves = m.branching ** m.depth, columns = m.kept.length + 1, outputs = m.output_scale.length;
    const gatesEach = m.gates.length / record.draws, expertsEach = m.coefficients.length / record.draws;
    const expOf = { poisson: true, gamma: true }[m.expert];
    const ofClasses = m.expert === "logistic" || m.expert === "multinomial";

    const product = (values, begin, step, z) => z.reduce((sum, x, i) => sum + x * values[begin + i * step], 0);
    return (row) => {
      const values = matrix(row), found = [];
      const z = [...Array.from(m.kept, (at, i) => (values[at] - m.centre[i]) / m.scale[i]), 1];
      for (let d = 0; d < record.draws; ++d) {
        let share = [1], at = d * gatesEach;
        for (let level = 0; level < m.depth; ++level) {
          const next = [];
          for (const above of share) {
            const scores = [];
            for (let b = 0; b < m.branching - 1; ++b, at += columns) scores.push(product(m.gates, at, 1, z));
            for (const branch of softmax([...scores, 0])) next.push(above * branch);
          }
          share = next;
        }
        const mean = new Array(outputs).fill(0), each = expertsEach / leaves;
        for (let leaf = 0; leaf < leaves; ++leaf) {
          const begin = d * expertsEach + leaf * each;
          let said = [];
          if (ofClasses) {
            for (let k = 0; k < outputs - 1; ++k) said.push(product(m.coefficients, begin + k * columns, 1, z));
            said = softmax([...said, 0]);
          } else {
            const seen = m.expert === "constant" ? [1] : z;
            for (let k = 0; k < outputs; ++k) said.push(product(m.coefficients, begin + k, outputs, seen));
            if (expOf) said = said.map(Math.exp);
          }
          said.forEach((value, k) => { mean[k] += share[leaf] * value; });
        }
        found.push(mean.map((value, k) => value * m.output_scale[k] + m.output_centre[k]));
      }
      return found;
    };
  }

  return { of: (record) => ({ trees, linear, soft })[record.kind](record), normalBelow };
})();
