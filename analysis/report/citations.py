"""References for the methods used in a report, with venue and DOI where one exists."""

from typing import Any

from ..rows import RATING_TASKS

WORKS = {
    "blimp": "Warstadt, A., Parrish, A., Liu, H., Mohananey, A., Peng, W., Wang, S.-F. & Bowman, S. R. "
    "(2020). BLiMP: The Benchmark of Linguistic Minimal Pairs for English. Transactions of the Association "
    "for Computational Linguistics 8, 377–392. https://doi.org/10.1162/tacl_a_00321",
    "climp": "Xiang, B., Yang, C., Li, Y., Warstadt, A. & Kann, K. (2021). CLiMP: A Benchmark for Chinese "
    "Language Model Evaluation. Proceedings of EACL 2021, 2784–2790. "
    "https://doi.org/10.18653/v1/2021.eacl-main.242",
    "wilson": "Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial "
    "proportion. Statistical Science 16(2), 101–133. https://doi.org/10.1214/ss/1009213286",
    "cluster": "Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1(2), 386–411. "
    "https://doi.org/10.1214/07-AOAS122",
    "effective": "Dean, N. & Pagano, M. (2015). Evaluating confidence interval methods for binomial "
    "proportions in clustered surveys. Journal of Survey Statistics and Methodology 3(4), 484–503. "
    "https://doi.org/10.1093/jssam/smv024",
    "z": "Schütze, C. T. & Sprouse, J. (2013). Judgment data. In R. J. Podesva & D. Sharma (eds), Research "
    "Methods in Linguistics, 27–50. Cambridge University Press. https://doi.org/10.1017/CBO9781139013734.004",
    "alpha": "Krippendorff, K. (2019). Content Analysis: An Introduction to Its Methodology (4th ed.). SAGE. "
    "https://doi.org/10.4135/9781071878781",
    "ac1": "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high "
    "agreement. British Journal of Mathematical and Statistical Psychology 61(1), 29–48. "
    "https://doi.org/10.1348/000711006X126600",
    "icc": "McGraw, K. O. & Wong, S. P. (1996). Forming inferences about some intraclass correlation "
    "coefficients. Psychological Methods 1(1), 30–46. https://doi.org/10.1037/1082-989X.1.1.30",
    "jackknife": "Kott, P. S. (2001). The delete-a-group jackknife. Journal of Official Statistics 17(4), "
    "521–526.",
    "five": "Sprouse, J., Schütze, C. T. & Almeida, D. (2013). A comparison of informal and formal "
    "acceptability judgments using a random sample from Linguistic Inquiry 2001–2010. Lingua 134, 219–248. "
    "https://doi.org/10.1016/j.lingua.2013.07.002",
    "bayes": "Rouder, J. N., Speckman, P. L., Sun, D., Morey, R. D. & Iverson, G. (2009). Bayesian t tests "
    "for accepting and rejecting the null hypothesis. Psychonomic Bulletin & Review 16(2), 225–237. "
    "https://doi.org/10.3758/PBR.16.2.225",
    "lme4": "Bates, D., Mächler, M., Bolker, B. & Walker, S. (2015). Fitting linear mixed-effects models "
    "using lme4. Journal of Statistical Software 67(1), 1–48. https://doi.org/10.18637/jss.v067.i01",
    "satterthwaite": "Kuznetsova, A., Brockhoff, P. B. & Christensen, R. H. B. (2017). lmerTest package: "
    "Tests in linear mixed effects models. Journal of Statistical Software 82(13), 1–26. "
    "https://doi.org/10.18637/jss.v082.i13",
    "holm": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal "
    "of Statistics 6(2), 65–70. https://www.jstor.org/stable/4615733",
    "bh": "Benjamini, Y. & Hochberg, Y. (1995). Controlling the false discovery rate: A practical and "
    "powerful approach to multiple testing. Journal of the Royal Statistical Society B 57(1), 289–300. "
    "https://doi.org/10.1111/j.2517-6161.1995.tb02031.x",
    "tost": "Lakens, D. (2017). Equivalence tests: A practical primer for t tests, correlations, and "
    "meta-analyses. Social Psychological and Personality Science 8(4), 355–362. "
    "https://doi.org/10.1177/1948550617697177",
    "schuirmann": "Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power "
    "approach for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and "
    "Biopharmaceutics 15(6), 657–680. https://doi.org/10.1007/BF01068419",
    "times": "Baayen, R. H. & Milin, P. (2010). Analyzing reaction times. International Journal of "
    "Psychological Research 3(2), 12–28. https://doi.org/10.21500/20112084.807",
    "lognormal": "Cohen, A. C. & Whitten, B. J. (1980). Estimation in the three-parameter lognormal "
    "distribution. Journal of the American Statistical Association 75(370), 399–404. "
    "https://doi.org/10.1080/01621459.1980.10477484",
    "power": "Sprouse, J. & Almeida, D. (2017). Design sensitivity and statistical power in acceptability "
    "judgment experiments. Glossa 2(1), 14. https://doi.org/10.5334/gjgl.236",
    "posthoc": "Hoenig, J. M. & Heisey, D. M. (2001). The abuse of power: The pervasive fallacy of power "
    "calculations for data analysis. The American Statistician 55(1), 19–24. "
    "https://doi.org/10.1198/000313001300339897",
    "multiverse": "Steegen, S., Tuerlinckx, F., Gelman, A. & Vanpaemel, W. (2016). Increasing transparency "
    "through a multiverse analysis. Perspectives on Psychological Science 11(5), 702–712. "
    "https://doi.org/10.1177/1745691616658637",
    "specification": "Simonsohn, U., Simmons, J. P. & Nelson, L. D. (2020). Specification curve analysis. "
    "Nature Human Behaviour 4, 1208–1214. https://doi.org/10.1038/s41562-020-0912-z",
    "consort": "Moher, D., Hopewell, S., Schulz, K. F. et al. (2010). CONSORT 2010 explanation and "
    "elaboration. BMJ 340, c869. https://doi.org/10.1136/bmj.c869",
    "islands": "Sprouse, J., Wagers, M. & Phillips, C. (2012). A test of the relation between working-memory "
    "capacity and syntactic island effects. Language 88(1), 82–123. https://doi.org/10.1353/lan.2012.0004",
    "within": "Morey, R. D. (2008). Confidence intervals from normalized data: A correction to Cousineau "
    "(2005). Tutorials in Quantitative Methods for Psychology 4(2), 61–64. "
    "https://doi.org/10.20982/tqmp.04.2.p061",
    "adc": "Vázquez Martínez, H. J. (2021). The Acceptability Delta Criterion: Testing knowledge of language "
    "using the gradience of sentence acceptability. Proceedings of BlackboxNLP 2021, 479–495. "
    "https://doi.org/10.18653/v1/2021.blackboxnlp-1.38",
    "slor": "Lau, J. H., Clark, A. & Lappin, S. (2017). Grammaticality, acceptability, and probability: A "
    "probabilistic view of linguistic knowledge. Cognitive Science 41(5), 1202–1241. "
    "https://doi.org/10.1111/cogs.12414",
    "morcela": "Tjuatja, L., Neubig, G., Linzen, T. & Hao, S. (2025). What goes into a LM acceptability "
    "judgment? Rethinking the impact of frequency and length. Proceedings of NAACL 2025, 2173–2186.",
    "scipy": "Virtanen, P. et al. (2020). SciPy 1.0: Fundamental algorithms for scientific computing in "
    "Python. Nature Methods 17, 261–272. https://doi.org/10.1038/s41592-019-0686-2",
    "numpy": "Harris, C. R. et al. (2020). Array programming with NumPy. Nature 585, 357–362. "
    "https://doi.org/10.1038/s41586-020-2649-2",
    "pandas": "McKinney, W. (2010). Data structures for statistical computing in Python. Proceedings of the "
    "9th Python in Science Conference, 56–61. https://doi.org/10.25080/Majora-92bf1922-00a",
}


def works_cited(numbers: dict[str, Any]) -> list[str]:
    """Return the references for the statistics that a report contains, in alphabetical order."""
    task, rule = numbers["task"], (numbers["agreement"].get("rule") or "")
    correction = numbers["effects"].get("correction", "holm")
    keys = {"wilson", "numpy", "pandas", "scipy", "consort"}
    keys |= {rule} & {"blimp", "climp"}
    if rule and rule not in WORKS:
        keys.add("blimp")
    if task in RATING_TASKS:
        keys.add("z")
    if numbers["conditions"].get("conditions"):
        keys.add("within")
    keys |= _intervals_cited(numbers["agreement"])
    if "refused" not in numbers["reliability"]:
        keys |= {"alpha", "ac1", "jackknife"} | ({"icc"} if task in RATING_TASKS else set())
    if numbers["effects"].get("analyses"):
        keys |= {"five", "bayes", "lme4", correction} | ({"satterthwaite"} if task in RATING_TASKS else set())
    if numbers["effects"].get("equivalence"):
        keys |= {"tost", "schuirmann"}
    if numbers["effects"].get("interactions"):
        keys |= {"islands", "lme4", "satterthwaite", correction}
    if numbers["times"].get("timed"):
        keys |= {"times", "lognormal", "lme4", "satterthwaite"}
    keys |= _models_cited(numbers.get("models") or {"refused": ""})
    if "refused" not in numbers["power"]:
        keys |= {"power", "posthoc"}
    if "refused" not in numbers.get("multiverse", {"refused": ""}):
        keys |= {"multiverse", "specification"}
    if len(numbers["exclusions"].get("sensitivity", [])) > 1:
        keys.add("multiverse")
    return sorted((WORKS[key] for key in keys), key=str.casefold)


def _models_cited(models: dict[str, Any]) -> set[str]:
    """Return the references for the criteria, linking functions and regressions of models."""
    if "refused" in models:
        return set()
    depth = models["depth"]
    cited = {"blimp", "adc"} | ({"holm"} if models["differences_blimp"] else set())
    if any(row["r_cross_validated"] is not None for row in depth["linking"]):
        cited |= {"slor", "morcela"}
    if any(row["terms"] for row in depth["surprisal"]):
        cited |= {"lme4", "satterthwaite"}
    return cited


def _intervals_cited(agreement: dict[str, Any]) -> set[str]:
    """Return the references for the intervals over participants."""
    if "refused" in agreement:
        return set()
    methods = {row["ci_method"] for row in (agreement["overall_included"], *agreement["paradigms"])}
    cited = {"participant_bootstrap": "cluster", "participant_wilson_effective": "effective"}
    return {cited[name] for name in methods if name in cited}
