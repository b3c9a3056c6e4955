r"""
Kernels of strings and graphs
=============================

**The lecture says:** kernels can be defined for structured inputs, such as strings or graphs. Domain knowledge
matters.

**We** look at surnames and at small graphs. No column of numbers is made of them: a learner asks for k(x, z), and
nothing else.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer import KernelPCA, KernelSVC
from mercer.displays import ComponentsDisplay
from mercer.kernels import Graph, Spectrum, VertexHistogram, WeisfeilerLehman

names = {
    "Italian": """Barbieri Bianchi Colombo Conti Esposito Ferrari Fontana Giordano
        Lombardi Mancini Mariani Marino Moretti Ricci Rinaldi Romano
        Rossi Santoro""",
    "Japanese": """Hashimoto Hayashi Ikeda Inoue Kato Kimura Kobayashi Matsumoto Nakamura
        Sasaki Shimizu Suzuki Takahashi Tanaka Watanabe Yamada Yamamoto
        Yoshida""",
    "Polish": """Adamczyk Dabrowski Grabowski Jankowski Kaminski Kowalczyk Kowalski
        Kozlowski Krawczyk Kwiatkowski Lewandowski Michalski Nowak
        Nowakowski Pawlowski Szymanski Wisniewski Zielinski""",
}
# ^ and $ mark beginnings and ends
strings = [f"^{name}$" for text in names.values() for name in text.split()]
language = np.repeat(list(names), 18)

# %%
# **Strings.** Two names are alike if they share runs of two letters. "ki" says much, and so does "i$", an i at the
# end.
kernel = Spectrum(k=2).normalized()
print(mercer.prove(kernel).claim)
alike = kernel(["^Nowak$", "^Nowakowski$", "^Suzuki$"]).round(2)
print(alike)
asked = ["^Bernardi$", "^Yamashita$", "^Malinowski$"]
answers = KernelSVC(kernel, C=10).fit(strings, language).predict(asked).tolist()
print(dict(zip(asked, answers, strict=True)))

# %%
# **Graphs.** Paths, rings and stars of 5 to 14 nodes. The histogram of nodes sees only how many there are, and no edge.
# These nodes have no labels, so that normalised it is 1 for every pair of graphs: it tells nothing at all. The kernel
# of Weisfeiler and Lehman looks at each node, at its neighbours, and at theirs.
graphs, kind = [], []
for n in range(5, 15):
    path, star = [(i, i + 1) for i in range(n - 1)], [(0, i) for i in range(1, n)]
    graphs += [Graph(n, path), Graph(n, [*path, (n - 1, 0)]), Graph(n, star)]
    kind += ["path", "ring", "star"]
kind = np.array(kind)
poor = KernelSVC(VertexHistogram().normalized(), C=10)
rich = KernelSVC(WeisfeilerLehman(2).normalized(), C=10)
odd = np.arange(len(graphs)) // 3 % 2 == 1  # sizes that are left out
train, test = (
    [g for g, out in zip(graphs, odd, strict=True) if not out],
    [g for g, out in zip(graphs, odd, strict=True) if out],
)
scores = {
    "nodes counted": float(poor.fit(train, kind[~odd]).score(test, kind[odd])),
    "neighbours seen": float(rich.fit(train, kind[~odd]).score(test, kind[odd])),
}
print(scores)

# %%
# **What one sees.** The first two components of both. Languages fall apart for the most part, and shapes wholly,
# though nobody has told the kernels what a language or a ring is. (All rings are one point: each of their nodes sees
# the same.)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
ComponentsDisplay.from_estimator(
    KernelPCA(kernel, n_components=2).fit(strings), strings, language, ax=panels[0]
)
shapes = KernelPCA(WeisfeilerLehman(2).normalized(), n_components=2).fit(graphs)
ComponentsDisplay.from_estimator(shapes, graphs, kind, ax=panels[1])
panels[0].set_title("names, by runs of letters")
panels[1].set_title("graphs, by neighbourhoods")
plt.show()

# %%
# **"Of course, you cannot pick k arbitrarily"**, the lecture says. The similarity by edits, the first that comes to
# mind for strings, is no kernel. Mercer has it, so as to refute it; and runs of letters are one, with the features
# counted.
refuted = mercer.prove("edit_similarity")
proven = mercer.prove(Spectrum(k=2))
print(refuted.status, refuted.witness)
print(proven.status, Spectrum(k=2)(["banana", "ananas"]).tolist())
